import { deepEqual, orderedText, type RuntimeClass, type Toleration } from '@asterism/machinery';
import { type Fields, fieldsAt, listAt, optionalFields } from '../kinds/fields/draft-fields.ts';
import { type AdmissionPlugin, isCreation, type PluginContext, refusal } from './admission-plugin.ts';
import type { AdmissionRequest } from '../contract/admission-step.ts';

const CLASSES = 'runtimeclasses.node.k8s.io';

/** What a pod's RuntimeClass means for it: its overhead, and the nodes that it may run on. */
export function runtimeClass({ store }: PluginContext): AdmissionPlugin {
  return {
    resources: ['pods'],
    mutate(request) {
      if (!isCreation(request) || request.object === undefined) return;
      const spec = fieldsAt(request.object, 'spec');
      const { runtimeClassName: name } = spec;
      const overhead = optionalFields(spec, 'overhead');
      const without = 'pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead';
      if (typeof name !== 'string') {
        if (overhead) throw refusal(request, without);
        return;
      }
      const found = store.get(CLASSES, undefined, name)?.parse() as RuntimeClass | undefined;
      if (!found) throw refusal(request, `pod rejected: RuntimeClass ${JSON.stringify(name)} not found`);
      const fixed = found.overhead?.podFixed;
      if (overhead && !fixed) throw refusal(request, without);
      if (overhead && !deepEqual(overhead, fixed)) {
        throw refusal(request, "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead");
      }
      if (fixed) spec.overhead = { ...fixed };
      setScheduling(request, spec, found);
    },
  };
}

function setScheduling(request: AdmissionRequest, spec: Fields, { scheduling = {} }: RuntimeClass): void {
  const { nodeSelector, tolerations = [] } = scheduling;
  if (nodeSelector) selectNodes(request, spec, nodeSelector);
  const known = listAt(spec, 'tolerations');
  const texts = new Set(known.map(orderedText));
  const added = tolerations.filter((toleration) => !texts.has(orderedText(toleration)));
  if (added.length > 0) spec.tolerations = [...known, ...added] satisfies (Fields | Toleration)[];
}

function selectNodes(request: AdmissionRequest, spec: Fields, nodeSelector: Readonly<Record<string, string>>): void {
  const own = (spec.nodeSelector ?? {}) as Record<string, string>;
  for (const [key, value] of Object.entries(nodeSelector)) {
    if (own[key] === undefined || own[key] === value) continue;
    const why = `conflict: runtimeClass.scheduling.nodeSelector[${key}] = ${value}; pod.spec.nodeSelector[${key}] = ${own[key]}`;
    throw refusal(request, `pod rejected: ${why}`);
  }
  spec.nodeSelector = { ...own, ...nodeSelector };
}
