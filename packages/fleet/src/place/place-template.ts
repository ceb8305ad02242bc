import { deepEqual, type KubeObject } from '@asterism/machinery';
import type { Cluster, Decision, ObjectReference, TargetCluster } from '../api/index.ts';
import type { Binding } from './binding-client.ts';
import { recordedDecisions, resultStands, standingDecisions } from './keep-decisions.ts';
import type { Policy } from './match-policy.ts';
import { type Schedule, schedule } from './schedule.ts';
import { templateKeyOf } from './template-key.ts';
import { byName } from './tie-break.ts';
import { workloadOf } from './workload.ts';

type BindingSpec = Binding['spec'];

const REQUIRED = 'RequiredBy';

export interface PlaceInput {
  template: KubeObject;
  /** The policy that places the template by itself. */
  policy: Policy | undefined;
  /** Bindings of templates that need this one where they are. */
  parents: readonly Binding[];
  clusters: readonly Cluster[];
  /** What the template's binding says now. */
  last: BindingSpec | undefined;
}

/**
 * The whole spec of a template's binding. With the same input twice it says the same, so there is nothing to write; a result that
 * stands is kept (see {@link resultStands}).
 */
export function placeTemplate(input: PlaceInput): BindingSpec {
  const { template, policy, parents, last } = input;
  const resource = { ...templateKeyOf(template), ...(template.metadata?.uid ? { uid: template.metadata.uid } : {}) };
  const requiredBy = parents.map(({ spec }) => spec.resource).toSorted((a, b) => byName(keyOf(a), keyOf(b)));
  const placed = policy ? placeByPolicy(input, policy) : { clusters: [], decisions: undecided(input) };
  const followed = follow(placed, parents);
  return {
    resource,
    ...(policy ? policyPart(policy) : {}),
    ...(requiredBy.length > 0 ? { requiredBy, ...(policy ? {} : strictestOf(parents)) } : {}),
    ...workloadPart(template),
    ...followed,
    decisions: recordedDecisions(
      deepEqual(last?.clusters, followed.clusters) ? last?.decisions : undefined,
      followed.decisions,
    ),
  };
}

function placeByPolicy({ template, clusters, last }: PlaceInput, { spec }: Policy): Schedule {
  const { apiVersion, kind } = templateKeyOf(template);
  const placement = spec.placement ?? {};
  const scheduleInput = {
    template: { apiVersion, kind, uid: template.metadata?.uid },
    workload: workloadOf(template),
    placement,
    clusters,
    previous: last ? ownClusters(last) : [],
    affinityName: last?.affinityName,
  };
  if (!last || !resultStands(last, scheduleInput)) return schedule(scheduleInput);
  const { affinityName } = last;
  return {
    clusters: last.clusters ?? [],
    decisions: standingDecisions(last, scheduleInput),
    ...(affinityName === undefined ? {} : { affinityName }),
  };
}

/** The result of the policy alone, without the clusters that parents added to it. */
function ownClusters({ clusters = [], decisions = [] }: BindingSpec): TargetCluster[] {
  const added = new Set(decisions.filter(({ reason }) => reason === REQUIRED).map(({ cluster }) => cluster));
  return clusters.filter(({ name }) => !added.has(name));
}

function policyPart({ apiVersion, kind, metadata, spec }: Policy): Partial<BindingSpec> {
  const { namespace, name = '', uid } = metadata;
  const { placement = {}, propagateDeps, conflictResolution, preserveResourcesOnDeletion } = spec;
  return {
    policy: { apiVersion, kind, name, ...(namespace ? { namespace } : {}), ...(uid ? { uid } : {}) },
    placement,
    ...(propagateDeps ? { propagateDeps } : {}),
    ...(conflictResolution ? { conflictResolution } : {}),
    ...(preserveResourcesOnDeletion ? { preserveResourcesOnDeletion } : {}),
  };
}

/** What only follows is as careful as the most careful of what it follows. */
function strictestOf(parents: readonly Binding[]): Partial<BindingSpec> {
  const overwrite = parents.every(({ spec }) => spec.conflictResolution === 'Overwrite');
  const preserve = parents.some(({ spec }) => spec.preserveResourcesOnDeletion);
  return {
    ...(overwrite ? { conflictResolution: 'Overwrite' as const } : {}),
    ...(preserve ? { preserveResourcesOnDeletion: true } : {}),
  };
}

function workloadPart(template: KubeObject): Partial<BindingSpec> {
  const workload = workloadOf(template);
  if (!workload) return {};
  const { replicas, requirements } = workload;
  return { replicas, ...(Object.keys(requirements).length > 0 ? { replicaRequirements: { ...requirements } } : {}) };
}

/** Adds the clusters of the parents. They take no share of what is divided: only a whole object follows. */
function follow(placed: Schedule, parents: readonly Binding[]): Schedule {
  const needed = new Map<string, string[]>();
  for (const { spec } of parents) {
    for (const { name } of spec.clusters ?? []) {
      needed.set(name, [...(needed.get(name) ?? []), `${spec.resource.kind} ${spec.resource.name}`]);
    }
  }
  const present = new Set(placed.clusters.map(({ name }) => name));
  const added: TargetCluster[] = [...needed.keys()].filter((name) => !present.has(name)).map((name) => ({ name }));
  if (added.length === 0) return placed;
  const decisions = placed.decisions.map((decision): Decision => {
    const by = needed.get(decision.cluster);
    if (!by || present.has(decision.cluster)) return decision;
    const message = `${by.toSorted(byName).join(', ')} needs it there`;
    return { cluster: decision.cluster, selected: true, reason: REQUIRED, message };
  });
  return { ...placed, decisions, clusters: [...placed.clusters, ...added].toSorted((a, b) => byName(a.name, b.name)) };
}

function undecided({ clusters }: PlaceInput): Decision[] {
  const message = 'nothing that needs it is placed there';
  return clusters
    .map(({ metadata }) => ({ cluster: metadata.name ?? '', selected: false, reason: 'NotRequired', message }))
    .toSorted((a, b) => byName(a.cluster, b.cluster));
}

function keyOf({ kind, name }: ObjectReference): string {
  return `${kind}/${name}`;
}
