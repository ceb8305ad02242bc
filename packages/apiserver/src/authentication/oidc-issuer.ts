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

/** What is wrong with an issuer: the option, and what it must be. */
export interface OidcFault {
  option: 'issuerUrl' | 'audiences' | 'signingAlgs' | 'extra';
  why: string;
}

/** The first fault of an issuer; undefined where there is none. */
export function findOidcFault({ issuerUrl, audiences, signingAlgs, extra = [] }: OidcIssuer): OidcFault | undefined {
  const url = URL.parse(issuerUrl);
  if (url?.protocol !== 'https:' || issuerUrl.includes('@') || url.search !== '' || url.hash !== '') {
    return { option: 'issuerUrl', why: 'must be an https URL without query, fragment and user' };
  }
  if (audiences.length === 0 || audiences.includes('')) {
    return { option: 'audiences', why: 'must name at least one client' };
  }
  if (signingAlgs?.length === 0 || signingAlgs?.some((alg) => !SIGNING_ALGS.has(alg))) {
    return { option: 'signingAlgs', why: `may be ${[...SIGNING_ALGS].join(', ')}` };
  }
  const wrong = extra.find(({ key }) => !EXTRA_KEY.test(key) || /(?:^|\.)(?:kubernetes|k8s)\.io\//.test(key));
  if (wrong === undefined) return undefined;
  const rule = 'must have keys as example.com/name, in lower case, and of no domain of Kubernetes';
  return { option: 'extra', why: `${rule}: ${JSON.stringify(wrong.key)} is none` };
}

/** Throws a `TypeError` that names what is wrong with an issuer. */
export function checkOidcIssuers(issuers: readonly OidcIssuer[]): void {
  const seen = new Set<string>();
  for (const issuer of issuers) {
    const { issuerUrl } = issuer;
    // What stands before an @ may be a password.
    const name = issuerUrl.includes('@') ? 'an oidc issuer' : `oidc issuer ${JSON.stringify(issuerUrl)}`;
    const fault = findOidcFault(issuer);
    if (fault !== undefined) throw new TypeError(`${name}: \`${fault.option}\` ${fault.why}`);
    if (seen.has(issuerUrl)) throw new TypeError(`${name}: it is given twice`);
    seen.add(issuerUrl);
  }
}
