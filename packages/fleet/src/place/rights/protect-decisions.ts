import type { AdmissionRequest, AdmissionStep, Authorizer } from '@asterism/apiserver';
import { deepEqual, forbidden, type KubeObject } from '@asterism/machinery';
import {
  ADMINS_GROUP,
  AGENTS_GROUP,
  CLUSTER_RESOURCE_BINDINGS,
  clusterOfNamespace,
  RESOURCE_BINDINGS,
  WORKS,
} from '../../api/index.ts';

const RESOURCES: ReadonlySet<string> = new Set(
  [RESOURCE_BINDINGS, CLUSTER_RESOURCE_BINDINGS, WORKS].map(({ resource }) => resource),
);

/** What no client can be: no certificate and no token names it, and only administrators may impersonate it. */
const SERVER_GROUP = 'system:masters';

/**
 * Bindings and Works are decisions of the hub, which members carry out. Admission of the hub's own API server lets nobody else write
 * them, whatever RBAC says.
 *
 * D1  The hub, and the API server's own controllers (garbage collection, namespaces), write everything.
 * D2  An agent writes the status of Works in the namespace of a cluster; RBAC says of which.
 * D3  An administrator may delete them, change their metadata, and say that objects of a Work stay when it is deleted: to help where a
 *     finalizer holds something, and to force a cluster out.
 * D4  A queue holds and releases a template by `spec.suspension.scheduling` of its binding, with the right to patch it.
 */
export function protectDecisions(authorizer: Authorizer): AdmissionStep {
  return {
    phase: 'validate',
    admit: async (request) => {
      const { object, resource, name } = request;
      if (resource.type.group !== WORKS.group || !RESOURCES.has(resource.type.resource)) return object;
      if (mayWrite(request) || (isHelp(request) && (await isAdministrator(authorizer, request)))) return object;
      const why = `only the hub writes ${resource.type.resource}: change the template, its policies or the Cluster instead`;
      throw forbidden(resource.type, name || (object?.metadata?.name ?? ''), why);
    },
  };
}

function mayWrite(request: AdmissionRequest): boolean {
  const { operation, resource, subresource, namespace = '', user } = request;
  const { groups } = user;
  if (groups.includes(SERVER_GROUP)) return true;
  if (resource.type.resource === WORKS.resource && groups.includes(AGENTS_GROUP)) {
    return subresource === 'status' && clusterOfNamespace(namespace) !== undefined;
  }
  if (operation === 'CREATE' || subresource !== undefined) return false;
  return operation === 'UPDATE' && resource.type.resource !== WORKS.resource && isQueueing(request);
}

/** Whether it is what an administrator may do (D3). */
function isHelp(request: AdmissionRequest): boolean {
  const { operation, subresource } = request;
  if (operation === 'CREATE' || subresource !== undefined) return false;
  return operation === 'DELETE' || isSame(request, withoutPreserving);
}

/** One who may do everything: of the hub's own group, or by a role such as `cluster-admin`. */
async function isAdministrator(authorizer: Authorizer, { user }: AdmissionRequest): Promise<boolean> {
  if (user.groups.includes(ADMINS_GROUP)) return true;
  return (await authorizer.authorize({ user, verb: '*', group: '*', resource: '*' })).allowed;
}

/** Whether nothing changes but `spec.suspension.scheduling`. */
function isQueueing(request: AdmissionRequest): boolean {
  const { object, oldObject } = request;
  const metadataOf = (each: KubeObject | undefined) => {
    const { labels, annotations, finalizers, ownerReferences } = each?.metadata ?? {};
    return { labels, annotations, finalizers, ownerReferences };
  };
  return deepEqual(metadataOf(object), metadataOf(oldObject)) && isSame(request, withoutScheduling);
}

function isSame({ object, oldObject }: AdmissionRequest, view: (spec: object) => object): boolean {
  const specOf = (each: KubeObject | undefined): object => view((each?.['spec'] as object | undefined) ?? {});
  return deepEqual(specOf(object), specOf(oldObject));
}

function withoutPreserving(spec: object): object {
  const { preserveResourcesOnDeletion: _, ...rest } = spec as { preserveResourcesOnDeletion?: boolean };
  return rest;
}

function withoutScheduling(spec: object): object {
  const { suspension, ...rest } = spec as { suspension?: { scheduling?: boolean } };
  const { scheduling: _, ...held } = suspension ?? {};
  return Object.keys(held).length > 0 ? { ...rest, suspension: held } : rest;
}
