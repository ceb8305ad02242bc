import { deepEqual, type KubeObject, type Pod, type PodSpec, validateDns1123Label } from '@asterism/machinery';
import {
  type Fields,
  fieldsAt,
  listAt,
  numberAt,
  optionalFields,
  setDefaults,
  textAt,
} from '../fields/draft-fields.ts';
import { collectFaults, type Faults } from '../validation/faults.ts';
import { qualityOfService } from './pod-quality.ts';
import { ANNOTATIONS, validateNewPod, SPEC } from './validation.ts';
import { validateEphemeralContainers, validateResize } from './validate-pod-parts.ts';
import { validatePodStatus } from './status.ts';
import { validatePodUpdate } from './validate-pod-update.ts';
import { defaultPod } from './defaults.ts';
import { podWarnings } from '../pod-spec/pod-warnings.ts';
import { adoptAppArmorAnnotations, gatedConditions, selectByOwnLabels } from './prepare-pod.ts';
import type { DeleteOptions } from '../../contract/delete-options.ts';
import type { Draft } from '../../contract/strategy.ts';
import type { Kind } from '../../contract/kind.ts';

export const podKind: Kind = {
  groupResource: 'pods',
  strategy: {
    generation: 'spec',
    returnsDeleted: true,
    metadataChecks: 4,
    selectableFields: {
      'spec.nodeName': (object) => textAt(specOf(object), 'nodeName'),
      'spec.restartPolicy': (object) => textAt(specOf(object), 'restartPolicy'),
      'spec.schedulerName': (object) => textAt(specOf(object), 'schedulerName'),
      'spec.serviceAccountName': (object) => textAt(specOf(object), 'serviceAccountName'),
      'spec.hostNetwork': (object) => String(specOf(object)?.hostNetwork === true),
      'status.phase': (object) => textAt(optionalFields(object, 'status'), 'phase'),
      'status.podIP': (object) => textAt(optionalFields(object, 'status'), 'podIP'),
      'status.podIPs': (object) => textAt(optionalFields(object, 'status'), 'podIP'),
      'status.nominatedNodeName': (object) => textAt(optionalFields(object, 'status'), 'nominatedNodeName'),
    },

    applyDefaults(draft) {
      defaultPod(fieldsAt(draft, 'spec'));
      const status = optionalFields(draft, 'status');
      if (status) mirrorAddress(status);
    },

    prepareForCreate(draft, context) {
      const spec = fieldsAt(draft, 'spec');
      const conditions = gatedConditions(spec, context.now);
      const qosClass = qualityOfService(spec);
      draft.status = { phase: 'Pending', ...(conditions.length > 0 ? { conditions } : {}), qosClass };
      selectByOwnLabels(draft);
      adoptAppArmorAnnotations(draft, context.warn);
    },

    prepareForUpdate(draft, old) {
      const spec = fieldsAt(draft, 'spec');
      const { priority, preemptionPolicy } = specOf(old) ?? {};
      setDefaults(spec, { priority, preemptionPolicy });
    },

    parts: {
      status: withStatus,

      /** Only a binding gives a pod its node; see `PodActions`. */
      binding: (draft) => draft,

      ephemeralcontainers(draft, old) {
        const { ephemeralContainers } = fieldsAt(draft, 'spec');
        const spec: Fields = { ...specOf(old), ephemeralContainers };
        if (ephemeralContainers === undefined) delete spec.ephemeralContainers;
        return { ...old, metadata: draft.metadata, spec };
      },

      resize: resized,
    },

    validateCreate: (object) => collectFaults((faults) => validateNewPod(object as Pod, faults)),

    validateUpdate(object, old, subresource) {
      const validate = subresource === undefined ? validatePodUpdate : VALIDATE_PART[subresource];
      return validate ? collectFaults((faults) => validate(object as Pod, old as Pod, faults)) : [];
    },

    validateStatus: (object, old) => collectFaults((faults) => validatePodStatus(object as Pod, old as Pod, faults)),

    refuseUpdate(object, old, { subresource, store }) {
      const nodeName = textAt(specOf(object), 'nodeName');
      if (subresource !== 'resize' || nodeName === '' || deepEqual(object.spec, old.spec)) return undefined;
      return store.get('nodes', undefined, nodeName) ? undefined : `node ${JSON.stringify(nodeName)} not found`;
    },

    warnings(object, old) {
      if (old) return [];
      const { annotations, name = '' } = object.metadata ?? {};
      const spec = specOf(object) as unknown as PodSpec;
      return [
        ...nameWarnings(name, "this is used in the Pod's hostname"),
        ...podWarnings({ spec, annotations, at: SPEC, annotationsAt: ANNOTATIONS, isTemplate: false }),
      ];
    },

    graceSeconds(object: KubeObject, options: DeleteOptions) {
      const spec = specOf(object);
      const phase = textAt(optionalFields(object, 'status'), 'phase');
      // Nothing runs that could end gracefully: never scheduled, or over.
      if (!textAt(spec, 'nodeName') || phase === 'Failed' || phase === 'Succeeded') return 0;
      const wanted = options.gracePeriodSeconds ?? numberAt(spec, 'terminationGracePeriodSeconds') ?? 30;
      return wanted < 0 ? 1 : wanted;
    },
  },
};

const VALIDATE_PART: Readonly<Record<string, (pod: Pod, old: Pod, faults: Faults) => void>> = {
  ephemeralcontainers: validateEphemeralContainers,
  resize: validateResize,
};

/** For kinds whose names become host names. */
export function nameWarnings(name: string, use: string): string[] {
  const wrong = validateDns1123Label(name);
  if (wrong.length === 0) return [];
  const why = `which can result in surprising behavior; a DNS label is recommended: [${wrong.join(' ')}]`;
  return [`metadata.name: ${use}, ${why}`];
}

function specOf(object: KubeObject): Fields | undefined {
  return optionalFields(object, 'spec');
}

/** Keeps `podIP` equal to the first of `podIPs` if a client writes only one of them. */
function mirrorAddress(status: Fields): void {
  const { podIP } = status;
  const addresses = listAt(status, 'podIPs');
  if (podIP && addresses[0]?.ip !== podIP) status.podIPs = [{ ip: podIP }];
  else if (!podIP && addresses[0]?.ip) status.podIP = addresses[0].ip;
}

function withStatus(draft: Draft, old: KubeObject): Draft {
  const status = fieldsAt(draft, 'status');
  const before = optionalFields(old, 'status');
  if (!status.qosClass) setDefaults(status, { qosClass: before?.qosClass });
  if (!status.observedGeneration && before?.observedGeneration) status.observedGeneration = before.observedGeneration;
  const metadata = { ...draft.metadata };
  const { ownerReferences, deletionTimestamp } = old.metadata ?? {};
  // Kubelets once lost owners, and know nothing of deletions.
  if (ownerReferences) metadata.ownerReferences = ownerReferences;
  else delete metadata.ownerReferences;
  if (deletionTimestamp) metadata.deletionTimestamp = deletionTimestamp;
  else delete metadata.deletionTimestamp;
  return { ...old, metadata, status };
}

/** In-place resize (KEP-1287): of what was sent, only the resources and resize policies of containers count. */
function resized(draft: Draft, old: KubeObject): Draft {
  const sent = fieldsAt(draft, 'spec');
  const spec: Fields = { ...specOf(old) };
  for (const list of ['containers', 'initContainers']) {
    const before = listAt(spec, list);
    const now = listAt(sent, list);
    // Validation has words for containers that are others than they were.
    const isOther = now.length !== before.length || now.some(({ name }, index) => name !== before[index]?.name);
    if (isOther) spec[list] = now;
    else if (now.length > 0) spec[list] = before.map((container, index) => withResources(container, now[index] ?? {}));
  }
  if (sent.resources) spec.resources = sent.resources;
  else delete spec.resources;
  return { ...old, metadata: draft.metadata, spec };
}

function withResources(container: Fields, { resources, resizePolicy }: Fields): Fields {
  const { resources: _, resizePolicy: _policy, ...rest } = container;
  return { ...rest, ...(resources ? { resources } : {}), ...(resizePolicy ? { resizePolicy } : {}) };
}
