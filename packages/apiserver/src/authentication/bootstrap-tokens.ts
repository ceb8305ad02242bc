import { timingSafeEqual } from 'node:crypto';
import { isNotFound, type KubeObject, SECRETS } from '@asterism/machinery';
import type { Registry } from '../registry/registry.ts';
import type { TokenAuthenticator } from '../contract/authenticator.ts';
import type { TokenUser } from '../contract/authenticator.ts';

const TOKEN = /^([a-z0-9]{6})\.([a-z0-9]{16})$/;
const EXTRA_GROUP = /^system:bootstrappers:[a-z0-9:-]{0,255}[a-z0-9]$/;
const SECRET_TYPE = 'bootstrap.kubernetes.io/token';

/**
 * Tokens by which a machine introduces itself: `ID.SECRET`, kept in the Secret `kube-system/bootstrap-token-ID` of type
 * `bootstrap.kubernetes.io/token`. The user is `system:bootstrap:ID`, of the group `system:bootstrappers` and those in
 * `auth-extra-groups`. A token expires at `expiration` and counts only with `usage-bootstrap-authentication: "true"`.
 * https://kubernetes.io/docs/reference/access-authn-authz/bootstrap-tokens/
 */
export function createBootstrapTokenAuthenticator(options: {
  registry: Registry;
  audiences: readonly string[];
  clock: () => number;
}): TokenAuthenticator {
  const authenticate = async (id: string, secret: string): Promise<TokenUser | undefined> => {
    const data = await readTokenSecret(options.registry, id);
    if (data === undefined || !isUsable(data, id, secret, options.clock())) return undefined;
    const extra = data['auth-extra-groups'] ?? '';
    const extraGroups = extra === '' ? [] : extra.split(',');
    if (!extraGroups.every((group) => EXTRA_GROUP.test(group))) return undefined;
    const groups = ['system:bootstrappers', ...extraGroups];
    return { user: { username: `system:bootstrap:${id}`, groups }, audiences: [...options.audiences] };
  };
  return (token) => {
    const [, id, secret] = TOKEN.exec(token) ?? [];
    return id === undefined || secret === undefined ? undefined : authenticate(id, secret);
  };
}

type TokenData = Readonly<Record<string, string>>;

/** The Secret's data, decoded; undefined where there is none that holds a token. */
async function readTokenSecret(registry: Registry, id: string): Promise<TokenData | undefined> {
  const resource = registry.find(SECRETS.group, SECRETS.version, SECRETS.resource);
  if (resource === undefined) return undefined;
  let secret: KubeObject;
  try {
    secret = (await registry.get(resource, { namespace: 'kube-system', name: `bootstrap-token-${id}` })).parse();
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
  if (secret.type !== SECRET_TYPE || secret.metadata?.deletionTimestamp !== undefined) return undefined;
  const data = (secret.data as Record<string, string> | undefined) ?? {};
  return Object.fromEntries(
    Object.entries(data).map(([key, value]) => [key, Buffer.from(value, 'base64').toString('utf8')]),
  );
}

function isUsable(data: TokenData, id: string, secret: string, now: number): boolean {
  if (!isEqual(data['token-secret'] ?? '', secret) || data['token-id'] !== id) return false;
  if (data['usage-bootstrap-authentication'] !== 'true') return false;
  const expiration = data.expiration;
  if (expiration === undefined || expiration === '') return true;
  const end = Date.parse(expiration);
  return !Number.isNaN(end) && end > now;
}

/** In a time that depends on the lengths alone. */
function isEqual(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a), Buffer.from(b)];
  return left.length === right.length && timingSafeEqual(left, right);
}
