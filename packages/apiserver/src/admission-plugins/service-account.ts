import { generateName, type KubeObject } from '@asterism/machinery';
import { isMirrorPod } from '../authorization/node-references.ts';
import { type Fields, fieldsAt, listAt, optionalFields, textAt } from '../kinds/fields/draft-fields.ts';
import type { ObjectStore } from '../storage/object-store.ts';
import { type AdmissionPlugin, isCreation, type PluginContext, refusal } from './admission-plugin.ts';
import { forbiddenSecretOf, referencesSecrets } from './mountable-secrets.ts';
import type { AdmissionRequest } from '../contract/admission-step.ts';

const ACCOUNTS = 'serviceaccounts';
const DEFAULT_ACCOUNT = 'default';
const ENFORCE = 'kubernetes.io/enforce-mountable-secrets';
/** What Go's `strconv.ParseBool` takes for true. */
const TRUE = new Set(['1', 't', 'T', 'TRUE', 'true', 'True']);
const VOLUME = 'kube-api-access-';
const MOUNT_PATH = '/var/run/secrets/kubernetes.io/serviceaccount';
/** Seven seconds over an hour: kubelets tell such tokens from those that a pod itself asked for. */
const TOKEN_SECONDS = 3607;
/** For so long a pod waits for its namespace's default account, which a controller makes. */
const PATIENCE_MS = 1500;

/**
 * Gives pods their service account, its token as a volume, and its secrets for pulling images. Mirror pods stay as they are, and
 * may not refer to accounts or secrets.
 */
export function serviceAccount(context: PluginContext): AdmissionPlugin {
  return {
    resources: ['pods'],
    mutate: (request) => giveAccount(request, context),
    validate: (request) => checkAccount(request, context.store),
  };
}

async function giveAccount(request: AdmissionRequest, { store, random }: PluginContext): Promise<void> {
  const { object: pod } = request;
  if (!isCreation(request) || pod === undefined) return;
  const spec = fieldsAt(pod, 'spec');
  if (isMirrorPod(pod)) {
    requireAlone(request, spec);
    return;
  }
  const name = textAt(spec, 'serviceAccountName') || DEFAULT_ACCOUNT;
  // The older name of the same field.
  spec.serviceAccountName = name;
  spec.serviceAccount = name;
  const account = await accountOf(request, name, store);
  if ((spec.automountServiceAccountToken ?? account.automountServiceAccountToken) !== false) mountToken(spec, random);
  const pullSecrets = listAt(account, 'imagePullSecrets');
  if (listAt(spec, 'imagePullSecrets').length > 0 || pullSecrets.length === 0) return;
  spec.imagePullSecrets = pullSecrets.map((secret) => ({ name: textAt(secret, 'name') }));
}

async function checkAccount(request: AdmissionRequest, store: ObjectStore): Promise<void> {
  const { operation, subresource, object: pod } = request;
  const debugs = operation === 'UPDATE' && subresource === 'ephemeralcontainers';
  if (pod === undefined || !(isCreation(request) || debugs)) return;
  const spec = fieldsAt(pod, 'spec');
  const name = textAt(spec, 'serviceAccountName');
  if (isMirrorPod(pod) && !debugs) {
    requireAlone(request, spec);
    return;
  }
  if (name === '') {
    throw refusal(request, `no service account specified for pod ${request.namespace}/${pod.metadata?.name ?? ''}`);
  }
  const account = await accountOf(request, name, store);
  if (!TRUE.has(account.metadata?.annotations?.[ENFORCE] ?? '')) return;
  const why = forbiddenSecretOf(spec, account, debugs ? 'ephemeral containers' : 'all');
  if (why !== undefined) throw refusal(request, why);
}

/** A mirror pod shows what a kubelet runs without the API server, and so with nothing from there. */
function requireAlone(request: AdmissionRequest, spec: Fields): void {
  if (textAt(spec, 'serviceAccountName') !== '') {
    throw refusal(request, 'a mirror pod may not reference service accounts');
  }
  if (referencesSecrets(spec)) throw refusal(request, 'a mirror pod may not reference secrets');
  const projected = listAt(spec, 'volumes').flatMap((volume) => listAt(optionalFields(volume, 'projected'), 'sources'));
  if (!projected.some(({ serviceAccountToken }) => serviceAccountToken)) return;
  throw refusal(request, 'a mirror pod may not use ServiceAccountToken volume projections');
}

async function accountOf(request: AdmissionRequest, name: string, store: ObjectStore): Promise<KubeObject> {
  const { namespace = '' } = request;
  const find = (): KubeObject | undefined => store.get(ACCOUNTS, namespace, name)?.parse();
  const found = find() ?? (name === DEFAULT_ACCOUNT ? await appearance(store, namespace, find) : undefined);
  if (found !== undefined) return found;
  const why = `serviceaccount ${JSON.stringify(name)} not found`;
  throw refusal(request, `error looking up service account ${namespace}/${name}: ${why}`);
}

/** Resolves with the account as soon as it is there, or with undefined after a while. */
async function appearance(
  store: ObjectStore,
  namespace: string,
  find: () => KubeObject | undefined,
): Promise<KubeObject | undefined> {
  const { promise, resolve } = Promise.withResolvers<KubeObject | undefined>();
  const timer = setTimeout(() => resolve(undefined), PATIENCE_MS);
  const stop = store.subscribe(ACCOUNTS, (event) => {
    if (event.namespace === namespace && event.type === 'put') resolve(find());
  });
  try {
    return (await promise) ?? find();
  } finally {
    stop();
    clearTimeout(timer);
  }
}

function mountToken(spec: Fields, random: () => number): void {
  const volumes = listAt(spec, 'volumes');
  const present = volumes.map((volume) => textAt(volume, 'name')).find((name) => name.startsWith(VOLUME));
  const name = present ?? generateName(VOLUME, random);
  let mounted = false;
  for (const container of [...listAt(spec, 'initContainers'), ...listAt(spec, 'containers')]) {
    const mounts = listAt(container, 'volumeMounts');
    if (mounts.some(({ mountPath }) => mountPath === MOUNT_PATH)) continue;
    container.volumeMounts = [...mounts, { name, readOnly: true, mountPath: MOUNT_PATH }];
    mounted = true;
  }
  if (mounted && present === undefined) spec.volumes = [...volumes, tokenVolume(name)];
}

function tokenVolume(name: string): Fields {
  const fieldRef = { apiVersion: 'v1', fieldPath: 'metadata.namespace' };
  return {
    name,
    projected: {
      sources: [
        { serviceAccountToken: { expirationSeconds: TOKEN_SECONDS, path: 'token' } },
        { configMap: { name: 'kube-root-ca.crt', items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
        { downwardAPI: { items: [{ path: 'namespace', fieldRef }] } },
      ],
      defaultMode: 0o644,
    },
  };
}
