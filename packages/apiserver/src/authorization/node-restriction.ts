import { CERTIFICATE_SIGNING_REQUESTS, deepEqual, forbidden, type KubeObject, NODES } from '@asterism/machinery';
import { readSigningRequest } from '../pki/signing-request.ts';
import type { Registry } from '../registry/registry.ts';
import { nodeNameOf } from '../contract/node-identity.ts';
import { refusedNodeLabels } from './node-labels.ts';
import { fieldsOf, isMirrorPod, listOf, nodeOfPod, podReferences, textOf } from './node-references.ts';
import type { AdmissionRequest, AdmissionStep } from '../contract/admission-step.ts';

const LEASE_NAMESPACE = 'kube-node-lease';
const NODE_SIGNERS = new Set(['kubernetes.io/kube-apiserver-client-kubelet', 'kubernetes.io/kubelet-serving']);

/** Why a node may not make a change; undefined where it may. */
type Check = (
  node: string,
  request: AdmissionRequest,
  registry: Registry,
) => string | undefined | Promise<string | undefined>;

/**
 * What a node may write (upstream's NodeRestriction): its own Node, without labels and taints that would draw work to it, the
 * pods that are bound to it, and mirror pods that refer to nothing.
 * https://kubernetes.io/docs/reference/access-authn-authz/admission-controllers/#noderestriction
 */
export function createNodeRestriction(registry: Registry): AdmissionStep {
  return {
    admit: async (request) => {
      const node = nodeNameOf(request.user);
      if (node === undefined) return request.object;
      const why = await refusalOf(node, request, registry);
      if (why !== undefined) throw forbidden(request.resource.type, request.name, why);
      return request.object;
    },
  };
}

const CHECKS: Readonly<Record<string, Check>> = {
  '/pods': checkPod,
  '/nodes': checkNode,
  '/persistentvolumeclaims': checkClaim,
  'coordination.k8s.io/leases': checkLease,
  'storage.k8s.io/csinodes': (node, { name }) =>
    name === node ? undefined : 'can only access CSINode with the same name as the requesting node',
  'resource.k8s.io/resourceslices': checkSlice,
  [`${CERTIFICATE_SIGNING_REQUESTS.group}/${CERTIFICATE_SIGNING_REQUESTS.resource}`]: checkSigningRequest,
};

async function refusalOf(node: string, request: AdmissionRequest, registry: Registry): Promise<string | undefined> {
  if (node === '') return `could not determine node from user ${JSON.stringify(request.user.username)}`;
  const { group, resource } = request.resource.type;
  return await CHECKS[`${group}/${resource}`]?.(node, request, registry);
}

function checkPod(
  node: string,
  request: AdmissionRequest,
  registry: Registry,
): string | undefined | Promise<string | undefined> {
  const { operation, subresource = '', object, oldObject } = request;
  const quoted = JSON.stringify(node);
  if (subresource === 'status') {
    if (operation !== 'UPDATE' || object === undefined || oldObject === undefined) {
      return `unexpected operation "${operation}"`;
    }
    return checkPodStatus(quoted, node, object, oldObject);
  }
  if (subresource === 'eviction') {
    return oldObject === undefined || nodeOfPod(oldObject) === node
      ? undefined
      : `node ${node} can only evict pods with spec.nodeName set to itself`;
  }
  if (subresource !== '') {
    return `unexpected pod subresource ${JSON.stringify(subresource)}, only 'status' and 'eviction' are allowed`;
  }
  if (operation === 'CREATE' && object !== undefined) return checkMirrorPod(node, object, registry);
  if (operation !== 'DELETE') {
    return `unexpected operation "${operation}", node ${quoted} can only create and delete mirror pods`;
  }
  return oldObject !== undefined && nodeOfPod(oldObject) === node
    ? undefined
    : `node ${quoted} can only delete pods with spec.nodeName set to itself`;
}

function checkPodStatus(quoted: string, node: string, object: KubeObject, old: KubeObject): string | undefined {
  if (nodeOfPod(old) !== node) {
    return `node ${quoted} can only update pod status for pods with spec.nodeName set to itself`;
  }
  if (!deepEqual(object.metadata?.labels ?? {}, old.metadata?.labels ?? {})) {
    return `node ${quoted} cannot update labels through pod status`;
  }
  const claims = (pod: KubeObject): unknown => listOf(fieldsOf(pod.status), 'resourceClaimStatuses');
  return deepEqual(claims(object), claims(old)) ? undefined : `node ${quoted} cannot update resource claim statues`;
}

/** What a mirror pod may not refer to, and the word for it. */
const FORBIDDEN_REFERENCES: [resource: string, words: string][] = [
  ['serviceaccounts', 'a service account'],
  ['secrets', 'secrets'],
  ['configmaps', 'configmaps'],
  ['persistentvolumeclaims', 'persistentvolumeclaims'],
  ['resourceclaims', 'resourceclaims'],
];

async function checkMirrorPod(node: string, pod: KubeObject, registry: Registry): Promise<string | undefined> {
  const quoted = JSON.stringify(node);
  if (!isMirrorPod(pod)) {
    return `pod does not have "kubernetes.io/config.mirror" annotation, node ${quoted} can only create mirror pods`;
  }
  if (nodeOfPod(pod) !== node) return `node ${quoted} can only create pods with spec.nodeName set to itself`;
  const why = await checkMirrorOwner(node, pod, registry);
  if (why !== undefined) return why;
  const metadata = { name: pod.metadata?.name ?? '', namespace: pod.metadata?.namespace ?? '' };
  const keys = [...podReferences({ ...pod, metadata })];
  for (const [resource, words] of FORBIDDEN_REFERENCES) {
    if (keys.some((key) => key.startsWith(`${resource}/`)))
      return `node ${quoted} can not create pods that reference ${words}`;
  }
  const spec = fieldsOf(pod.spec);
  if (listOf(spec, 'resourceClaims').length > 0)
    return `node ${quoted} can not create pods that reference resourceclaims`;
  const projected = listOf(spec, 'volumes').flatMap((volume) => listOf(fieldsOf(volume.projected), 'sources'));
  return projected.some((source) => source.clusterTrustBundle)
    ? `node ${quoted} can not create pods that reference clustertrustbundles`
    : undefined;
}

async function checkMirrorOwner(node: string, pod: KubeObject, registry: Registry): Promise<string | undefined> {
  const quoted = JSON.stringify(node);
  const [owner, ...others] = pod.metadata?.ownerReferences ?? [];
  if (others.length > 0) return `node ${quoted} can only create pods with a single owner reference set to itself`;
  if (owner?.apiVersion !== 'v1' || owner.kind !== 'Node' || owner.name !== node) {
    return `node ${quoted} can only create pods with an owner reference set to itself`;
  }
  if (!owner.controller) {
    return `node ${quoted} can only create pods with a controller owner reference set to itself`;
  }
  if (owner.blockOwnerDeletion) return `node ${quoted} must not set blockOwnerDeletion on an owner reference`;
  const resource = registry.find(NODES.group, NODES.version, NODES.resource)!;
  const uid = (await registry.get(resource, { name: node })).parse().metadata?.uid ?? '';
  return owner.uid === uid ? undefined : `node ${node} UID mismatch: expected ${owner.uid} got ${uid}`;
}

function checkNode(node: string, { operation, name, object, oldObject }: AdmissionRequest): string | undefined {
  const quoted = JSON.stringify(node);
  if (name !== node) return `node ${quoted} is not allowed to modify node ${JSON.stringify(name)}`;
  if (object === undefined) return undefined;
  const refused = refusedNodeLabels(object.metadata?.labels ?? {}, oldObject?.metadata?.labels ?? {});
  if (operation === 'CREATE') {
    if (fieldsOf(object.spec).configSource) {
      return `node ${quoted} is not allowed to create pods with a non-nil configSource`;
    }
    return refused.length === 0
      ? undefined
      : `node ${quoted} is not allowed to set the following labels: ${refused.join(', ')}`;
  }
  const [spec, oldSpec] = [fieldsOf(object.spec), fieldsOf(oldObject?.spec)];
  if (spec.configSource && !deepEqual(spec.configSource, oldSpec.configSource)) {
    return `node ${quoted} is not allowed to update configSource to a new non-nil configSource`;
  }
  if (!deepEqual(listOf(spec, 'taints'), listOf(oldSpec, 'taints'))) {
    return `node ${quoted} is not allowed to modify taints`;
  }
  if (refused.length > 0) return `is not allowed to modify labels: ${refused.join(', ')}`;
  return deepEqual(object.metadata?.ownerReferences ?? [], oldObject?.metadata?.ownerReferences ?? [])
    ? undefined
    : `node ${quoted} is not allowed to modify ownerReferences`;
}

/** What a kubelet tells of a claim: how large it is and how it fares. */
const CLAIM_STATUS = [
  'capacity',
  'conditions',
  'allocatedResourceStatuses',
  'allocatedResources',
  'currentVolumeAttributesClassName',
  'modifyVolumeStatus',
];

function checkClaim(node: string, { subresource, operation, object, oldObject }: AdmissionRequest): string | undefined {
  if (subresource !== 'status') return 'may only update PVC status';
  if (operation !== 'UPDATE' || object === undefined || oldObject === undefined) {
    return `unexpected operation "${operation}"`;
  }
  const rest = (claim: KubeObject): unknown => {
    const status: Record<string, unknown> = { ...fieldsOf(claim.status) };
    for (const field of CLAIM_STATUS) delete status[field];
    return { ...claim, status, metadata: { ...claim.metadata, resourceVersion: '', managedFields: [] } };
  };
  return deepEqual(rest(object), rest(oldObject))
    ? undefined
    : `node ${JSON.stringify(node)} is not allowed to update fields other than status.quantity and status.conditions`;
}

function checkLease(node: string, { namespace, name }: AdmissionRequest): string | undefined {
  if (namespace !== LEASE_NAMESPACE) {
    return `can only access leases in the "${LEASE_NAMESPACE}" system namespace`;
  }
  return name === node ? undefined : 'can only access node lease with the same name as the requesting node';
}

function checkSlice(node: string, { operation, object, oldObject }: AdmissionRequest): string | undefined {
  const nodeOf = (slice: KubeObject | undefined): string => textOf(fieldsOf(slice?.spec), 'nodeName');
  const slice = operation === 'CREATE' ? object : oldObject;
  if (nodeOf(slice) === node) return undefined;
  const verb = operation === 'CREATE' ? 'create' : operation === 'UPDATE' ? 'update' : 'delete';
  return `can only ${verb} ResourceSlice with the same NodeName as the requesting node`;
}

async function checkSigningRequest(
  _node: string,
  { operation, object, user }: AdmissionRequest,
): Promise<string | undefined> {
  const spec = fieldsOf(object?.spec);
  if (operation !== 'CREATE' || !NODE_SIGNERS.has(textOf(spec, 'signerName'))) return undefined;
  const request = Buffer.from(textOf(spec, 'request'), 'base64').toString('utf8');
  let commonName: string;
  try {
    ({ commonName } = await readSigningRequest(request));
  } catch (error) {
    return `unable to parse csr: ${(error as Error).message}`;
  }
  return commonName === user.username ? undefined : `can only create a node CSR with CN=${user.username}`;
}

/** What the token of a pod on a node is asked for, as much as matters here. */
export interface NodeTokenRequest {
  node: string;
  boundTo: { apiVersion?: string; kind?: string; name?: string; uid?: string } | undefined;
  audiences: readonly string[];
  namespace: string;
}

/** Why a node may not have that token: it gets tokens for pods that are bound to it, for the audiences that these name. */
export async function refusedNodeToken(
  registry: Registry,
  { node, boundTo, audiences, namespace }: NodeTokenRequest,
): Promise<string | undefined> {
  if (node === '') return 'could not determine node from user';
  if (boundTo?.apiVersion !== 'v1' || boundTo.kind !== 'Pod' || !boundTo.name) {
    return 'node requested token not bound to a pod';
  }
  if (!boundTo.uid) return 'node requested token with a pod binding without a uid';
  const pods = registry.find('', 'v1', 'pods')!;
  const pod = (await registry.get(pods, { namespace, name: boundTo.name })).parse();
  if (pod.metadata?.uid !== boundTo.uid) {
    return `the UID in the bound object reference (${boundTo.uid}) does not match the UID in record. The object might have been deleted and then recreated`;
  }
  if (nodeOfPod(pod) !== node) return 'node requested token bound to a pod scheduled on a different node';
  if (audiences.length > 1) return 'node may only request 0 or 1 audiences';
  const [audience = ''] = audiences;
  return (await hasAudience(registry, pod, audience))
    ? undefined
    : `audience ${JSON.stringify(audience)} not found in pod spec volume`;
}

/** A volume of the pod has tokens for the audience, or the driver of one wants them. */
async function hasAudience(registry: Registry, pod: KubeObject, audience: string): Promise<boolean> {
  const volumes = listOf(fieldsOf(pod.spec), 'volumes');
  const sources = volumes.flatMap((volume) => listOf(fieldsOf(volume.projected), 'sources'));
  const tokens = sources.map((source) => source.serviceAccountToken).filter((token) => token !== undefined);
  if (tokens.some((token) => textOf(fieldsOf(token), 'audience') === audience)) return true;
  if (!volumes.some((volume) => volume.csi || volume.persistentVolumeClaim || volume.ephemeral)) return false;
  const drivers = registry.find('storage.k8s.io', 'v1', 'csidrivers');
  if (drivers === undefined) return false;
  const { items } = await registry.list(drivers);
  return items
    .flatMap((item) => listOf(fieldsOf(item.parse().spec), 'tokenRequests'))
    .some((request) => textOf(request, 'audience') === audience);
}
