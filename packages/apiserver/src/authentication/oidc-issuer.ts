/** An OpenID provider whose ID tokens are accepted, as kube-apiserver's `--oidc-*` flags describe one. */
export interface OidcIssuer {
  /** `https://…`, exactly as the tokens' `iss` has it; `/.well-known/openid-configuration` is read below it. */
  issuerUrl: string;
  /** Client ids: a token is for one of them. */
  audiences: readonly string[];
  /** PEM: what the provider's certificate is checked against. Default: the roots that Node.js knows. */
  ca?: string;
  /** Default `sub`. With `email`, an `email_verified` that is there must be true. */
  usernameClaim?: string;
  /** Default: none for `email`, for any other claim `ISSUER_URL#`. `-` means none. */
  usernamePrefix?: string;
  /** A string, or a list of strings. Without it users have no groups but `system:authenticated`. */
  groupsClaim?: string;
  /** Default none. */
  groupsPrefix?: string;
  /** Claims that a token must have, with their values. */
  requiredClaims?: Readonly<Record<string, string>>;
  /** Default `RS256`. */
  signingAlgs?: readonly string[];
  /** The claim, a string, that is the user's uid. */
  uidClaim?: string;
  /** Extra values of the user, each from a claim that is a string or a list of strings. Keys as `example.com/tenant`. */
  extra?: readonly { key: string; claim: string }[];
}

/** Signatures by a private key: with a shared secret, whoever checks a token could make one. */
const SIGNING_ALGS = new Set(['RS256', 'RS384', 'RS512', 'ES256', 'ES384', 'ES512', 'PS256', 'PS384', 'PS512']);
const EXTRA_KEY = /^[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?\/[a-z0-9._~!$&'()*+;=:@/-]+$/;

/** Throws a `TypeError` that names what is wrong with an issuer. */
export function checkOidcIssuers(issuers: readonly OidcIssuer[]): void {
  const seen = new Set<string>();
  for (const issuer of issuers) {
    const fault = (what: string): TypeError =>
      new TypeError(`oidc issuer ${JSON.stringify(issuer.issuerUrl)}: ${what}`);
    const url = URL.parse(issuer.issuerUrl);
    if (url?.protocol !== 'https:' || url.search !== '' || url.hash !== '' || url.username !== '') {
      throw fault('`issuerUrl` must be an https URL without query, fragment and user');
    }
    if (seen.has(issuer.issuerUrl)) throw fault('it is given twice');
    seen.add(issuer.issuerUrl);
    if (issuer.audiences.length === 0 || issuer.audiences.includes('')) {
      throw fault('`audiences` must name at least one client');
    }
    const wrong = issuer.signingAlgs?.find((alg) => !SIGNING_ALGS.has(alg));
    if (wrong !== undefined || issuer.signingAlgs?.length === 0) {
      throw fault(`\`signingAlgs\` may be ${[...SIGNING_ALGS].join(', ')}`);
    }
    for (const { key } of issuer.extra ?? []) {
      if (!EXTRA_KEY.test(key) || /(?:^|\.)(?:kubernetes|k8s)\.io\//.test(key)) {
        throw fault(
          `the extra key ${JSON.stringify(key)} must be as example.com/name, in lower case, and no domain of Kubernetes`,
        );
      }
    }
  }
}
