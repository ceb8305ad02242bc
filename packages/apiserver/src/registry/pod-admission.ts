import {
  deepEqual,
  forbidden,
  type KubeObject,
  type RuntimeClass,
  type StatusError,
  type Toleration,
} from '@asterism/machinery';
import type { ObjectStore } from '../storage/object-store.ts';
import type { ServedVersion } from './served-version.ts';
import { type Fields, fieldsAt, listAt, numberAt, optionalFields, textAt } from './strategies/draft-fields.ts';

const CLASSES = 'priorityclasses.scheduling.k8s.io';
const RUNTIMES = 'runtimeclasses.node.k8s.io';
/** The classes that every cluster has, made or not. */
const SYSTEM_PRIORITIES: Readonly<Record<string, number>> = {
  'system-node-critical': 2_000_001_000,
  'system-cluster-critical': 2_000_000_000,
};

/** What of a write this admission looks at. */
export interface AdmittedWrite {
  operation: 'CREATE' | 'UPDATE' | 'DELETE';
  resource: ServedVersion;
  subresource: string | undefined;
  name: string;
  object: KubeObject | undefined;
}

/** What a pod's PriorityClass and RuntimeClass mean for it (upstream's admission plugins `Priority` and `RuntimeClass`). */
export function admitPodClasses(write: AdmittedWrite, store: ObjectStore): void {
  const { resource, operation, subresource, object } = write;
  if (!object || subresource !== undefined) return;
  const { groupResource } = resource;
  if (groupResource === CLASSES) checkOnlyDefault(write, object, store);
  if (groupResource !== 'pods' || operation !== 'CREATE') return;
  const spec = fieldsAt(object, 'spec');
  setPriority(write, spec, store);
  setRuntime(write, spec, store);
}

function refusal({ resource, name }: AdmittedWrite, why: string): StatusError {
  return forbidden(resource.type, name, why);
}

function setPriority(request: AdmittedWrite, spec: Fields, store: ObjectStore): void {
  const name = textAt(spec, 'priorityClassName');
  const found = name === '' ? defaultClass(store) : store.get(CLASSES, undefined, name)?.parse();
  const system = SYSTEM_PRIORITIES[name];
  if (name !== '' && !found && system === undefined) {
    throw refusal(request, `no PriorityClass with name ${name} was found`);
  }
  if (found) spec.priorityClassName = found.metadata?.name;
  const priority = found ? (numberAt(found, 'value') ?? 0) : (system ?? 0);
  const policy = textAt(found, 'preemptionPolicy') || 'PreemptLowerPriority';
  const source = 'priority admission controller computed';
  const own = numberAt(spec, 'priority');
  if (own !== undefined && own !== priority) {
    const why = `the integer value of priority (${own}) must not be provided in pod spec; ${source} ${priority} from the given PriorityClass name`;
    throw refusal(request, why);
  }
  const ownPolicy = textAt(spec, 'preemptionPolicy');
  if (ownPolicy !== '' && ownPolicy !== policy) {
    const why = `the string value of PreemptionPolicy (${ownPolicy}) must not be provided in pod spec; ${source} ${policy} from the given PriorityClass name`;
    throw refusal(request, why);
  }
  spec.priority = priority;
  spec.preemptionPolicy = policy;
}

/** The class of pods that name none: of those marked so the lowest. */
function defaultClass(store: ObjectStore): KubeObject | undefined {
  let lowest: KubeObject | undefined;
  for (const each of defaultClasses(store)) {
    if (!lowest || (numberAt(each, 'value') ?? 0) < (numberAt(lowest, 'value') ?? 0)) lowest = each;
  }
  return lowest;
}

function defaultClasses(store: ObjectStore): KubeObject[] {
  return [...store.cache(CLASSES).entries('', '')]
    .map(([, stored]) => stored.parse())
    .filter(({ globalDefault }) => globalDefault === true);
}

function checkOnlyDefault(request: AdmittedWrite, object: KubeObject, store: ObjectStore): void {
  if (object.globalDefault !== true) return;
  const other = defaultClasses(store).find(({ metadata }) => metadata?.name !== object.metadata?.name);
  if (!other) return;
  const why = `PriorityClass ${other.metadata?.name} is already marked as default. Only one default can exist`;
  throw refusal(request, why);
}

function setRuntime(request: AdmittedWrite, spec: Fields, store: ObjectStore): void {
  const { runtimeClassName: name } = spec;
  const overhead = optionalFields(spec, 'overhead');
  const without = 'pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead';
  if (typeof name !== 'string') {
    if (overhead) throw refusal(request, without);
    return;
  }
  const found = store.get(RUNTIMES, undefined, name)?.parse() as RuntimeClass | undefined;
  if (!found) throw refusal(request, `pod rejected: RuntimeClass ${JSON.stringify(name)} not found`);
  const fixed = found.overhead?.podFixed;
  if (overhead && !fixed) throw refusal(request, without);
  if (overhead && !deepEqual(overhead, fixed)) {
    throw refusal(request, "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead");
  }
  if (fixed) spec.overhead = { ...fixed };
  const { nodeSelector, tolerations = [] } = found.scheduling ?? {};
  if (nodeSelector) selectNodes(request, spec, nodeSelector);
  const known = listAt(spec, 'tolerations');
  const added = tolerations.filter((toleration) => !known.some((other) => deepEqual(other, toleration)));
  if (added.length > 0) spec.tolerations = [...known, ...added] satisfies (Fields | Toleration)[];
}

function selectNodes(request: AdmittedWrite, spec: Fields, nodeSelector: Readonly<Record<string, string>>): void {
  const own = (spec.nodeSelector ?? {}) as Record<string, string>;
  for (const [key, value] of Object.entries(nodeSelector)) {
    if (own[key] === undefined || own[key] === value) continue;
    const why = `conflict: runtimeClass.scheduling.nodeSelector[${key}] = ${value}; pod.spec.nodeSelector[${key}] = ${own[key]}`;
    throw refusal(request, `pod rejected: ${why}`);
  }
  spec.nodeSelector = { ...own, ...nodeSelector };
}
