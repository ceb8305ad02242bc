import type { AdmissionRequest, AdmissionStep, Authorizer } from '@asterism/apiserver';
import { deepEqual, forbidden, type KubeObject, type ResourceType } from '@asterism/machinery';
import {
  AUTHOR_ANNOTATION,
  CLUSTER_PROPAGATION_POLICIES,
  type Placement,
  PROPAGATION_POLICIES,
  type ResourceSelector,
} from '../../api/index.ts';
import type { Policy } from '../match-policy.ts';
import { type Access, formatRefusal, placing, reading, READING_EVERYTHING } from './access.ts';
import { formatAuthor, MAX_AUTHOR_BYTES } from './author.ts';

export interface PolicyAdmissionOptions {
  authorizer: Authorizer;
  /** Names of the clusters that there are. */
  clusters: () => Promise<readonly string[]>;
  /** Undefined where the kind is not served (yet). */
  typeOf: (kind: { apiVersion: string; kind: string }) => Promise<ResourceType | undefined>;
}

/** Clusters, and selectors, of one policy that admission asks about: a policy of any length takes little time. */
const MAX_ASKED = 500;

const RESOURCES: ReadonlySet<string> = new Set([PROPAGATION_POLICIES.resource, CLUSTER_PROPAGATION_POLICIES.resource]);

/**
 * Admission of policies where the API server is the hub's own.
 *
 * R1  It records who wrote a policy, and nobody else can. The author is the user who last changed the spec.
 * R2  A change of labels or annotations makes nobody the author: who labels a policy does not vouch for it.
 * R3  A user takes a policy over by changing or removing the record: it then names that user.
 * R4  The author must have the right to place in every cluster that the policy names, or in any cluster if it names none, and to read
 *     all that it selects. Clusters and objects that come later are judged when they are placed, and so is what goes beyond the first
 *     few hundred names of one policy.
 */
export function admitPolicies(options: PolicyAdmissionOptions): AdmissionStep[] {
  return [
    {
      phase: 'mutate',
      admit: async (request) => (isPolicyWrite(request) ? recordAuthor(request) : request.object),
    },
    {
      phase: 'validate',
      admit: async (request) => {
        if (isPolicyWrite(request) && makesAuthor(request)) await requireRights(request, options);
        return request.object;
      },
    },
  ];
}

function isPolicyWrite({ operation, resource: { type }, subresource }: AdmissionRequest): boolean {
  if (type.group !== PROPAGATION_POLICIES.group || !RESOURCES.has(type.resource)) return false;
  return subresource === undefined && operation !== 'DELETE';
}

function makesAuthor({ operation, object, oldObject }: AdmissionRequest): boolean {
  if (operation === 'CREATE') return true;
  return !deepEqual(object?.['spec'], oldObject?.['spec']) || recordOf(object) !== recordOf(oldObject);
}

function recordOf(object: KubeObject | undefined): string | undefined {
  return object?.metadata?.annotations?.[AUTHOR_ANNOTATION];
}

function recordAuthor(request: AdmissionRequest): KubeObject | undefined {
  const { object, user, resource, name } = request;
  if (!object || !makesAuthor(request)) return object;
  const record = formatAuthor(user);
  if (record === undefined) {
    const why = `the identity of user ${JSON.stringify(user.username.slice(0, 100))} is longer than ${MAX_AUTHOR_BYTES} bytes, too long to record it as the author`;
    throw forbidden(resource.type, name, why);
  }
  const annotations = { ...object.metadata?.annotations, [AUTHOR_ANNOTATION]: record };
  return { ...object, metadata: { ...object.metadata, annotations } };
}

async function requireRights(request: AdmissionRequest, options: PolicyAdmissionOptions): Promise<void> {
  const { object, user, resource, name } = request;
  const { spec, metadata } = object as Policy;
  const allowed = async (access: Access): Promise<boolean> =>
    (await options.authorizer.authorize({ user, ...attributesOf(access) })).allowed;
  const require = async (access: Access): Promise<void> => {
    if (await allowed(access)) return;
    throw forbidden(resource.type, name || (metadata.name ?? ''), formatRefusal(user.username, access));
  };
  if (!(await allowed(placing()))) {
    const { names, namesAll } = clustersNamedBy(spec.placement);
    for (const cluster of [...names].slice(0, MAX_ASKED)) await require(placing(cluster));
    if (!namesAll && !(await allowedSomewhere(options, allowed))) await require(placing());
  }
  if (await allowed(READING_EVERYTHING)) return;
  const byKind = Map.groupBy(
    spec.resourceSelectors.slice(0, MAX_ASKED),
    ({ apiVersion, kind }) => `${apiVersion}/${kind}`,
  );
  for (const [first, ...more] of byKind.values()) {
    const type = first && (await options.typeOf(first));
    if (type) for (const each of [first, ...more]) await require(readingBy(each, type, metadata.namespace));
  }
}

async function allowedSomewhere(
  { clusters }: PolicyAdmissionOptions,
  allowed: (access: Access) => Promise<boolean>,
): Promise<boolean> {
  for (const cluster of await clusters()) if (await allowed(placing(cluster))) return true;
  return false;
}

/** What a selector needs: without a name, the right to read all of the kind where it reaches. */
function readingBy({ namespace, name }: ResourceSelector, type: ResourceType, own: string | undefined): Access {
  return reading(type, { namespace: own ?? namespace, name: name === '' ? undefined : name });
}

/** The clusters that a placement names; `namesAll` if it can choose no other. */
function clustersNamedBy(placement: Placement | undefined): { names: ReadonlySet<string>; namesAll: boolean } {
  const { clusterAffinity, clusterAffinities } = placement ?? {};
  const groups = clusterAffinities?.flatMap((each) => [each, ...(each.overflowAffinities ?? [])]);
  const lists = (groups ?? [clusterAffinity ?? {}]).map(({ clusterNames = [] }) => clusterNames);
  return { names: new Set(lists.flat()), namesAll: lists.every((list) => list.length > 0) };
}

function attributesOf({ verb, group, resource, namespace, name }: Access) {
  return {
    verb,
    group,
    resource,
    ...(namespace === undefined ? {} : { namespace }),
    ...(name === undefined ? {} : { name }),
  };
}
