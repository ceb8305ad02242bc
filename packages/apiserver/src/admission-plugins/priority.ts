import type { KubeObject } from '@asterism/machinery';
import { type Fields, fieldsAt, numberAt, textAt } from '../kinds/fields/draft-fields.ts';
import type { ObjectStore } from '../storage/object-store.ts';
import { type AdmissionPlugin, isCreation, type PluginContext, refusal } from './admission-plugin.ts';
import type { AdmissionRequest } from '../contract/admission-step.ts';

const CLASSES = 'priorityclasses.scheduling.k8s.io';
/** The classes that every cluster has, made or not. */
const SYSTEM_PRIORITIES: Readonly<Record<string, number>> = {
  'system-node-critical': 2_000_001_000,
  'system-cluster-critical': 2_000_000_000,
};

/** Gives pods the priority of their class, and holds that one class alone is the default. */
export function priority({ store }: PluginContext): AdmissionPlugin {
  return {
    resources: ['pods', CLASSES],
    mutate(request) {
      if (request.resource.type.resource !== 'pods') return;
      if (isCreation(request) && request.object) setPriority(request, fieldsAt(request.object, 'spec'), store);
    },
    validate(request) {
      const { resource, operation, subresource, object } = request;
      if (resource.type.resource === 'pods' || subresource !== undefined || operation === 'DELETE') return;
      if (object?.globalDefault === true) checkOnlyDefault(request, object, store);
    },
  };
}

function setPriority(request: AdmissionRequest, spec: Fields, store: ObjectStore): void {
  const name = textAt(spec, 'priorityClassName');
  const found = name === '' ? defaultClass(store) : store.get(CLASSES, undefined, name)?.parse();
  const system = SYSTEM_PRIORITIES[name];
  if (name !== '' && !found && system === undefined) {
    throw refusal(request, `no PriorityClass with name ${name} was found`);
  }
  if (found) spec.priorityClassName = found.metadata?.name;
  const value = found ? (numberAt(found, 'value') ?? 0) : (system ?? 0);
  const policy = textAt(found, 'preemptionPolicy') || 'PreemptLowerPriority';
  const source = 'priority admission controller computed';
  const own = numberAt(spec, 'priority');
  if (own !== undefined && own !== value) {
    const why = `the integer value of priority (${own}) must not be provided in pod spec; ${source} ${value} from the given PriorityClass name`;
    throw refusal(request, why);
  }
  const ownPolicy = textAt(spec, 'preemptionPolicy');
  if (ownPolicy !== '' && ownPolicy !== policy) {
    const why = `the string value of PreemptionPolicy (${ownPolicy}) must not be provided in pod spec; ${source} ${policy} from the given PriorityClass name`;
    throw refusal(request, why);
  }
  spec.priority = value;
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

function checkOnlyDefault(request: AdmissionRequest, object: KubeObject, store: ObjectStore): void {
  const other = defaultClasses(store).find(({ metadata }) => metadata?.name !== object.metadata?.name);
  if (!other) return;
  const why = `PriorityClass ${other.metadata?.name} is already marked as default. Only one default can exist`;
  throw refusal(request, why);
}
