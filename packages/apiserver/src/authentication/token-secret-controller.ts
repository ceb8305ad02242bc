import { isConflict, isNotFound, type KubeObject, SECRETS, SERVICE_ACCOUNTS } from '@asterism/machinery';
import { type Controller, type ControllerOptions, writeContext } from '../controllers/controller-options.ts';
import { KeyedWork } from '../controllers/keyed-work.ts';
import { requireResource } from '../registry/require-resource.ts';
import type { LegacyServiceAccountTokens } from './legacy-service-account-tokens.ts';
import type { ServedResource } from '../contract/served-resource.ts';

const TYPE = 'kubernetes.io/service-account-token';
const ACCOUNT_NAME = 'kubernetes.io/service-account.name';
const ACCOUNT_UID = 'kubernetes.io/service-account.uid';

export interface TokenSecretControllerOptions extends ControllerOptions {
  tokens: LegacyServiceAccountTokens;
  /** PEM of the certificate that clients should trust; without it Secrets get none. */
  rootCa: string | undefined;
}

/**
 * Fills Secrets of type `kubernetes.io/service-account-token` with a token, the namespace and the CA, and deletes those whose
 * account is gone.
 */
export function startTokenSecretController(options: TokenSecretControllerOptions): Controller {
  const { registry, signal, onError } = options;
  const secrets = requireResource(registry, SECRETS);
  const accounts = requireResource(registry, SERVICE_ACCOUNTS);
  const addAll = async (namespace?: string): Promise<void> => {
    const { items } = await registry.list(secrets, { namespace, fieldSelector: `type=${TYPE}`, signal });
    for (const item of items) {
      const { metadata } = item.parse();
      work.add(`${metadata?.namespace}/${metadata?.name}`);
    }
  };
  const work = new KeyedWork({
    async work(key) {
      const [namespace = '', name = ''] = key.split('/');
      if (name === '') await addAll(namespace);
      else await keep(options, secrets, accounts, { namespace, name });
    },
    onError: (key, error) => onError(`token of the Secret ${key}`, error),
    signal,
  });
  const stop = registry.observe(({ resource, type, namespace, name, stored }) => {
    if (resource === accounts && type === 'delete') work.add(`${namespace}/`);
    else if (resource === secrets && type === 'put' && isTokenSecret(stored.parse())) work.add(`${namespace}/${name}`);
  });
  signal.addEventListener('abort', stop, { once: true });
  const begin = addAll().catch((error: unknown) => onError('tokens of the Secrets that are stored', error));
  return {
    settled: async () => {
      await begin;
      await work.settled();
    },
  };
}

function isTokenSecret({ type }: KubeObject): boolean {
  return type === TYPE;
}

async function keep(
  options: TokenSecretControllerOptions,
  secrets: ServedResource,
  accounts: ServedResource,
  ref: { namespace: string; name: string },
): Promise<void> {
  const { registry, tokens, rootCa } = options;
  const secret = (await registry.get(secrets, ref).catch(absent))?.parse();
  if (secret === undefined || !isTokenSecret(secret) || secret.metadata?.deletionTimestamp) return;
  const { annotations = {}, uid } = secret.metadata ?? {};
  const { [ACCOUNT_NAME]: account = '', [ACCOUNT_UID]: wantedUid } = annotations;
  const found = await registry.get(accounts, { namespace: ref.namespace, name: account }).catch(absent);
  const accountUid = found?.parse().metadata?.uid ?? '';
  const context = writeContext(options, ref.namespace);
  if (found === undefined || (wantedUid && wantedUid !== accountUid)) {
    await registry.delete(secrets, ref, { preconditions: { uid } }, { ...context, name: ref.name }).catch(overtaken);
    return;
  }
  const data = (secret.data ?? {}) as Record<string, string>;
  const missing: Record<string, string> = {};
  const encode = (text: string): string => Buffer.from(text).toString('base64');
  if (rootCa !== undefined && data['ca.crt'] !== encode(rootCa)) missing['ca.crt'] = encode(rootCa);
  if (!data.namespace) missing.namespace = encode(ref.namespace);
  if (!data.token) {
    const subject = { namespace: ref.namespace, secret: ref.name, account, uid: accountUid };
    missing.token = encode(await tokens.issue(subject));
  }
  if (Object.keys(missing).length === 0 && wantedUid === accountUid) return;
  const { resourceVersion } = secret.metadata ?? {};
  const metadata = { resourceVersion, annotations: { [ACCOUNT_UID]: accountUid } };
  const patch = { type: 'merge' as const, body: { metadata, data: missing } };
  await registry.patch(secrets, ref, patch, { ...context, name: ref.name }).catch(overtaken);
}

function absent(error: unknown): undefined {
  if (!isNotFound(error)) throw error;
}

/** It has gone or has changed; a change is told again. */
function overtaken(error: unknown): void {
  if (!isNotFound(error) && !isConflict(error)) throw error;
}
