import {
  badRequest,
  conflict,
  type FieldError,
  forbidden,
  formatTime,
  invalid,
  isNotFound,
  type KubeObject,
  NODES,
  notFound,
  PODS,
  type ResourceType,
  SECRETS,
  SERVICE_ACCOUNTS,
} from '@asterism/machinery';
import { nodeNameOf } from '../contract/node-identity.ts';
import { refusedNodeToken } from '../authorization/node-restriction.ts';
import type { Creation } from '../contract/creation.ts';
import type { Registry } from '../registry/registry.ts';
import type { UserInfo } from '../contract/user-info.ts';
import type { BoundObject, ServiceAccountTokens } from './service-account-tokens.ts';

const MIN_SECONDS = 10 * 60;
const MAX_SECONDS = 2 ** 32;
const DEFAULT_SECONDS = 60 * 60;

const BINDABLE: Record<BoundObject['kind'], ResourceType> = { Pod: PODS, Secret: SECRETS, Node: NODES };

interface TokenRequestSpec {
  audiences?: string[];
  expirationSeconds?: number;
  boundObjectRef?: { kind?: string; apiVersion?: string; name?: string; uid?: string } | null;
}

/** `serviceaccounts/token`: a token for an account, bound to it and, where asked for, to a pod, a secret or a node. */
export function createTokenRequest(options: {
  registry: Registry;
  tokens: ServiceAccountTokens;
  clock: () => number;
}): Creation {
  const read = async (type: ResourceType, namespace: string | undefined, name: string): Promise<KubeObject> => {
    const resource = options.registry.find(type.group, type.version, type.resource);
    if (resource === undefined) throw notFound(type, name);
    return (await options.registry.get(resource, { namespace, name })).parse();
  };

  const readBound = async (
    ref: NonNullable<TokenRequestSpec['boundObjectRef']>,
    namespace: string | undefined,
    account: string,
  ): Promise<{ bound: BoundObject; object: KubeObject }> => {
    const { kind = '', apiVersion = '', name = '', uid } = ref;
    const type = BINDABLE[kind as BoundObject['kind']] as ResourceType | undefined;
    if (type === undefined || apiVersion !== 'v1') {
      const [group, version] = apiVersion.includes('/') ? apiVersion.split('/') : ['', apiVersion];
      throw badRequest(`cannot bind token to object of type ${group}/${version}, Kind=${kind}`);
    }
    const object = await read(type, type.namespaced ? namespace : undefined, name);
    if (type.kind === 'Pod') checkPodAccount(object, account);
    const actual = object.metadata?.uid ?? '';
    if (uid !== undefined && uid !== '' && uid !== actual) {
      const why = `the UID in the bound object reference (${uid}) does not match the UID in record. The object might have been deleted and then recreated`;
      throw conflict({ group: '', resource: kind }, name, why);
    }
    return { bound: { kind: kind as BoundObject['kind'], name, uid: actual }, object };
  };

  /** A pod may be bound to a node that is not there. */
  const readNode = async (name: string): Promise<{ name: string; uid?: string }> => {
    try {
      return { name, uid: (await read(NODES, undefined, name)).metadata?.uid ?? '' };
    } catch (error) {
      if (isNotFound(error)) return { name };
      throw error;
    }
  };

  return async ({ object, namespace, name, user }) => {
    const account = await read(SERVICE_ACCOUNTS, namespace, name);
    const spec = (object.spec ?? {}) as TokenRequestSpec;
    await requireNodeMayAsk(options.registry, user, spec, { namespace: namespace ?? '', name });
    const lifetime = readLifetime(spec);
    // A default belongs to who posted, as the answer's managedFields say.
    object.spec = { ...spec, expirationSeconds: lifetime };
    const ref = spec.boundObjectRef ?? undefined;
    const target = ref === undefined ? undefined : await readBound(ref, namespace, name);
    const audiences = spec.audiences && spec.audiences.length > 0 ? spec.audiences : [options.tokens.issuer];
    const nodeName = (target?.object.spec as { nodeName?: string } | undefined)?.nodeName;
    const node = target?.bound.kind === 'Pod' && nodeName ? await readNode(nodeName) : undefined;
    const uid = account.metadata?.uid ?? '';
    const status = await options.tokens.issue({
      serviceAccount: { namespace: namespace ?? '', name, uid },
      audiences,
      lifetime,
      ...(target === undefined ? {} : { bound: target.bound }),
      ...(node === undefined ? {} : { node }),
    });
    const creationTimestamp = formatTime(options.clock());
    return {
      kind: object.kind!,
      apiVersion: object.apiVersion!,
      metadata: { name, ...(namespace === undefined ? {} : { namespace }), uid, creationTimestamp },
      spec: { audiences, expirationSeconds: lifetime, boundObjectRef: ref ?? null },
      status,
    };
  };
}

/** A node gets tokens for the pods that are bound to it, and for nobody else. */
async function requireNodeMayAsk(
  registry: Registry,
  user: UserInfo,
  { audiences = [], boundObjectRef }: TokenRequestSpec,
  { namespace, name }: { namespace: string; name: string },
): Promise<void> {
  const node = nodeNameOf(user);
  if (node === undefined) return;
  const why = await refusedNodeToken(registry, { node, boundTo: boundObjectRef ?? undefined, audiences, namespace });
  if (why !== undefined) throw forbidden(SERVICE_ACCOUNTS, name, why);
}

function readLifetime({ expirationSeconds }: TokenRequestSpec): number {
  const seconds = expirationSeconds ?? DEFAULT_SECONDS;
  const fault = (detail: string): FieldError => ({
    type: 'FieldValueInvalid',
    field: 'spec.expirationSeconds',
    message: `Invalid value: ${seconds}: ${detail}`,
  });
  const errors = [
    ...(seconds < MIN_SECONDS ? [fault('may not specify a duration less than 10 minutes')] : []),
    ...(seconds > MAX_SECONDS ? [fault('may not specify a duration larger than 2^32 seconds')] : []),
  ];
  if (errors.length > 0) throw invalid({ group: 'authentication.k8s.io', kind: 'TokenRequest' }, '', errors);
  return seconds;
}

function checkPodAccount(pod: KubeObject, account: string): void {
  const actual = (pod.spec as { serviceAccountName?: string } | undefined)?.serviceAccountName ?? 'default';
  if (actual === account) return;
  throw badRequest(
    `cannot bind token for serviceaccount ${JSON.stringify(account)} to pod running with different serviceaccount name.`,
  );
}
