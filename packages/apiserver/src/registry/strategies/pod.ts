import { deepEqual, type FieldError, type KubeObject } from '@asterism/machinery';
import type { DeleteOptions } from '../registry.ts';
import { type Draft, forbiddenField, type Strategy } from '../strategy.ts';
import { type Fields, fieldsAt, listAt, numberAt, optionalFields, setDefaults, textAt } from './draft-fields.ts';
import { qualityOfService } from './pod-quality.ts';
import { defaultPodSpec } from './pod-spec-defaults.ts';
import { validatePodSpec } from './validate-pod-template.ts';

/** Seconds for which a pod stays on a node that fails, when it says nothing (upstream's DefaultTolerationSeconds). */
const TOLERATION_SECONDS = 300;
const NODE_FAULTS = ['node.kubernetes.io/not-ready', 'node.kubernetes.io/unreachable'];

export const podStrategy: Strategy = {
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
    const spec = fieldsAt(draft, 'spec');
    defaultPodSpec(spec);
    setDefaults(spec, { enableServiceLinks: true });
    for (const container of [...listAt(spec, 'containers'), ...listAt(spec, 'initContainers')])
      requestLimits(container);
  },

  prepareForCreate(draft) {
    const spec = fieldsAt(draft, 'spec');
    tolerateNodeFaults(spec);
    setDefaults(spec, { priority: 0, preemptionPolicy: 'PreemptLowerPriority' });
    draft.status = { phase: 'Pending', qosClass: qualityOfService(spec) };
  },

  prepareForUpdate(draft, old) {
    const spec = fieldsAt(draft, 'spec');
    const { priority, preemptionPolicy } = specOf(old) ?? {};
    tolerateNodeFaults(spec);
    setDefaults(spec, { priority, preemptionPolicy });
  },

  parts: {
    status(draft, old) {
      const status = fieldsAt(draft, 'status');
      setDefaults(status, { qosClass: optionalFields(old, 'status')?.qosClass });
      return { ...old, metadata: draft.metadata, status };
    },

    /** Only a binding gives a pod its node; see `PodActions`. */
    binding: (draft) => draft,

    ephemeralcontainers(draft, old) {
      const { ephemeralContainers } = fieldsAt(draft, 'spec');
      return { ...old, metadata: draft.metadata, spec: { ...specOf(old), ephemeralContainers } };
    },

    resize: resized,
  },

  validate: (object) => validatePodSpec(specOf(object) ?? {}, 'spec'),
  validateUpdate: validatePodUpdate,

  graceSeconds(object: KubeObject, options: DeleteOptions) {
    const spec = specOf(object);
    const phase = textAt(optionalFields(object, 'status'), 'phase');
    // Nothing runs that could end gracefully: never scheduled, or over.
    if (!textAt(spec, 'nodeName') || phase === 'Failed' || phase === 'Succeeded') return 0;
    const wanted = options.gracePeriodSeconds ?? numberAt(spec, 'terminationGracePeriodSeconds') ?? 30;
    return wanted < 0 ? 1 : wanted;
  },
};

function specOf(object: KubeObject): Fields | undefined {
  return optionalFields(object, 'spec');
}

/** What is limited is requested, where nothing is said of it. */
function requestLimits(container: Fields): void {
  const resources = optionalFields(container, 'resources');
  const limits = optionalFields(resources, 'limits');
  if (!resources || !limits) return;
  const requests = fieldsAt(resources, 'requests');
  for (const [name, limit] of Object.entries(limits)) requests[name] ??= limit;
}

function tolerateNodeFaults(spec: Fields): void {
  const tolerations = listAt(spec, 'tolerations');
  for (const key of NODE_FAULTS) {
    const tolerated = tolerations.some(
      (each) => (each.key === key || !each.key) && (each.effect === 'NoExecute' || !each.effect),
    );
    if (!tolerated) {
      tolerations.push({ key, operator: 'Exists', effect: 'NoExecute', tolerationSeconds: TOLERATION_SECONDS });
    }
  }
  spec.tolerations = tolerations;
}

/** In-place resize (KEP-1287): resources and resize policies of containers that there are. */
function resized(draft: Draft, old: KubeObject): Draft {
  const wanted = listAt(fieldsAt(draft, 'spec'), 'containers');
  const containers = listAt(specOf(old), 'containers').map((container) => {
    const { resources, resizePolicy } = wanted.find(({ name }) => name === container.name) ?? container;
    return { ...container, ...(resources ? { resources } : {}), ...(resizePolicy ? { resizePolicy } : {}) };
  });
  return { ...old, metadata: draft.metadata, spec: { ...specOf(old), containers } };
}

const PARTLY_MUTABLE =
  'pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)';

/** A pod that exists can be given other images, a deadline and further tolerations, and nothing else. */
function validatePodUpdate(object: KubeObject, old: KubeObject): FieldError[] {
  const now = specOf(object) ?? {};
  const before = specOf(old) ?? {};
  const names = (spec: Fields): string =>
    listAt(spec, 'containers')
      .map((each) => textAt(each, 'name'))
      .join();
  if (listAt(now, 'containers').length !== listAt(before, 'containers').length) {
    return [forbiddenField('spec.containers', 'pod updates may not add or remove containers')];
  }
  // Subresources that may change more have been through their own part already.
  const subresourceParts = ['nodeName', 'ephemeralContainers'];
  const fixed = (spec: Fields): Fields => {
    const { activeDeadlineSeconds: _deadline, tolerations: _tolerations, schedulingGates: _gates, ...rest } = spec;
    for (const part of subresourceParts) delete rest[part];
    for (const key of ['containers', 'initContainers']) {
      rest[key] = listAt(spec, key).map(
        ({ image: _image, resources: _resources, resizePolicy: _policy, ...container }) => container,
      );
    }
    return rest;
  };
  if (names(now) === names(before) && deepEqual(fixed(now), fixed(before))) return [];
  return [forbiddenField('spec', PARTLY_MUTABLE)];
}
