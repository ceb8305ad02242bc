import { findOidcFault, type OidcFault, type OidcIssuer } from '@asterism/hub';
import { CommandError, EXIT } from '../exit-code.ts';
import { readAuthority } from './read-authority.ts';

/** The flags of an OpenID provider, in upstream's names, as they were typed. */
export interface OidcFlags {
  oidcIssuerUrl?: string;
  oidcClientId?: string;
  oidcUsernameClaim?: string;
  oidcUsernamePrefix?: string;
  oidcGroupsClaim?: string;
  oidcGroupsPrefix?: string;
  oidcRequiredClaim?: string[];
  oidcCaFile?: string;
  oidcSigningAlgs?: string;
}

const NAMES: Readonly<Record<keyof OidcFlags, string>> = {
  oidcIssuerUrl: '--oidc-issuer-url',
  oidcClientId: '--oidc-client-id',
  oidcUsernameClaim: '--oidc-username-claim',
  oidcUsernamePrefix: '--oidc-username-prefix',
  oidcGroupsClaim: '--oidc-groups-claim',
  oidcGroupsPrefix: '--oidc-groups-prefix',
  oidcRequiredClaim: '--oidc-required-claim',
  oidcCaFile: '--oidc-ca-file',
  oidcSigningAlgs: '--oidc-signing-algs',
};

/** Which flag says what of an issuer. */
const FLAG_OF: Readonly<Partial<Record<OidcFault['option'], string>>> = {
  issuerUrl: NAMES.oidcIssuerUrl,
  audiences: NAMES.oidcClientId,
  signingAlgs: NAMES.oidcSigningAlgs,
};

/** The first of these flags that was given, for who cannot use any. */
export function findOidcFlag(flags: OidcFlags): string | undefined {
  const given = Object.keys(NAMES) as (keyof OidcFlags)[];
  const found = given.find((name) => flags[name] !== undefined);
  return found && NAMES[found];
}

/** Undefined where no provider is given. Rejects as wrong usage, naming the flag. */
export async function readOidcFlags(flags: OidcFlags): Promise<OidcIssuer | undefined> {
  const given = findOidcFlag(flags);
  if (given === undefined) return undefined;
  const { oidcIssuerUrl: issuerUrl, oidcClientId: client } = flags;
  if (issuerUrl === undefined) throw wrong(NAMES.oidcIssuerUrl, `is missing: without it ${given} says nothing`);
  if (client === undefined) throw wrong(NAMES.oidcClientId, 'is missing: which client of the provider is this hub?');
  for (const name of ['oidcUsernameClaim', 'oidcGroupsClaim'] as const) {
    if (flags[name] === '') throw wrong(NAMES[name], 'it is empty');
  }
  if (flags.oidcGroupsPrefix !== undefined && flags.oidcGroupsClaim === undefined) {
    throw wrong(NAMES.oidcGroupsPrefix, `says nothing without ${NAMES.oidcGroupsClaim}`);
  }
  const issuer: OidcIssuer = {
    issuerUrl,
    audiences: [client],
    ...named('usernameClaim', flags.oidcUsernameClaim),
    ...named('usernamePrefix', flags.oidcUsernamePrefix),
    ...named('groupsClaim', flags.oidcGroupsClaim),
    ...named('groupsPrefix', flags.oidcGroupsPrefix),
    ...named('requiredClaims', flags.oidcRequiredClaim && parseClaims(flags.oidcRequiredClaim)),
    ...named(
      'signingAlgs',
      flags.oidcSigningAlgs?.split(',').map((name) => name.trim()),
    ),
  };
  const fault = findOidcFault(issuer);
  if (fault !== undefined) throw wrong(FLAG_OF[fault.option] ?? fault.option, fault.why);
  if (flags.oidcCaFile === undefined) return issuer;
  return { ...issuer, ca: await readAuthority(NAMES.oidcCaFile, flags.oidcCaFile) };
}

function named<Name extends keyof OidcIssuer>(name: Name, value: OidcIssuer[Name] | undefined): Partial<OidcIssuer> {
  return value === undefined ? {} : { [name]: value };
}

/** `claim=value`, each by itself: a value may have commas. */
function parseClaims(pairs: readonly string[]): Record<string, string> {
  const claims = new Map<string, string>();
  for (const pair of pairs) {
    const at = pair.indexOf('=');
    const claim = pair.slice(0, Math.max(at, 0));
    if (claim === '') throw wrong(NAMES.oidcRequiredClaim, `${JSON.stringify(pair)} is not CLAIM=VALUE`);
    if (claims.has(claim)) throw wrong(NAMES.oidcRequiredClaim, `${JSON.stringify(claim)} is there twice`);
    claims.set(claim, pair.slice(at + 1));
  }
  return Object.fromEntries(claims);
}

function wrong(flag: string, why: string): CommandError {
  return new CommandError(`${flag}: ${why}`, EXIT.usage);
}
