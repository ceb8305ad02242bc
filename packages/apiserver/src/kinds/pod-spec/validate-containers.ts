import type { Container, EphemeralContainer, PodSpec, Volume } from '@asterism/machinery';
import type { Faults } from '../validation/faults.ts';
import type { FieldPath } from '../validation/field-path.ts';
import { validateEnvironment } from './validate-environment.ts';
import { validateHandlers } from './validate-handlers.ts';
import { validateMounts } from './validate-mounts.ts';
import { validateHostPorts, validatePorts } from './validate-ports.ts';
import { validateResources } from './validate-resources.ts';
import { validateRestartRules } from './validate-restart-rules.ts';
import { validateSecurityContext } from './validate-security.ts';
import { validateDnsLabel, validateRequiredChoice } from '../validation/validate-text.ts';
import { validateContainerResourceName } from './resource-names.ts';

/** What containers refer to in their pod. */
export interface PodSurroundings {
  spec: PodSpec;
  /** The pod's volumes without faults, by name. */
  volumes: ReadonlyMap<string, Volume>;
  claimNames: ReadonlySet<string>;
  isPod: boolean;
}

/** The containers of a pod's three lists; `at` is that of the spec. */
export function validateContainers(pod: PodSurroundings, at: FieldPath, faults: Faults): void {
  const { containers, initContainers = [], ephemeralContainers = [] } = pod.spec;
  validateMainContainers(containers ?? [], pod, at.child('containers'), faults);
  if (initContainers.length > 0) validateInitContainers(initContainers, pod, at.child('initContainers'), faults);
  if (ephemeralContainers.length > 0) {
    validateEphemeralContainers(ephemeralContainers, pod, at.child('ephemeralContainers'), faults);
  }
}

function validateMainContainers(
  containers: readonly Container[],
  pod: PodSurroundings,
  at: FieldPath,
  faults: Faults,
): void {
  if (containers.length === 0) return faults.required(at);
  const around = { gracePeriodSeconds: pod.spec.terminationGracePeriodSeconds, os: pod.spec.os };
  const names = new Set<string>();
  for (const [index, container] of containers.entries()) {
    const place = at.index(index);
    validateAnyContainer(container, pod, place, faults);
    const { name } = container;
    if (names.has(name)) faults.duplicate(place.child('name'), name);
    names.add(name);
    validateHandlers(container, place, around, faults);
    validateRestartRules(container, place, faults);
  }
  validateHostPorts(containers, at, faults);
}

/** Only a sidecar, which is an init container that is restarted always, may have what serves while the pod runs. */
const OF_SIDECARS = ['lifecycle', 'livenessProbe', 'readinessProbe', 'startupProbe'] as const;

function validateInitContainers(
  containers: readonly Container[],
  pod: PodSurroundings,
  at: FieldPath,
  faults: Faults,
): void {
  const around = { gracePeriodSeconds: pod.spec.terminationGracePeriodSeconds, os: pod.spec.os };
  const names = new Set((pod.spec.containers ?? []).map(({ name }) => name));
  for (const [index, container] of containers.entries()) {
    const place = at.index(index);
    const { name, restartPolicy, resizePolicy } = container;
    validateAnyContainer(container, pod, place, faults);
    validateRestartRules(container, place, faults);
    if (names.has(name)) faults.duplicate(place.child('name'), name);
    else if (name !== '') names.add(name);
    // They run one after the other, so that each may have a port of the node. Upstream tells the list, not the container.
    validateHostPorts([container], at, faults);
    if (restartPolicy === 'Always') {
      validateHandlers(container, place, around, faults);
      continue;
    }
    for (const key of OF_SIDECARS) {
      if (!container[key]) continue;
      faults.forbidden(place.child(key), 'may not be set for init containers without restartPolicy=Always');
    }
    for (const [each, policy] of (resizePolicy ?? []).entries()) {
      if (policy.restartPolicy !== 'RestartContainer') continue;
      const detail = "must not be set to 'RestartContainer' for non-sidecar initContainers";
      faults.invalid(place.child('resizePolicy').index(each).child('restartPolicy'), policy.restartPolicy, detail);
    }
  }
}

/** In the order of the struct's fields: what an ephemeral container may not have. */
const NOT_EPHEMERAL = [
  'ports',
  'resources',
  'resizePolicy',
  'restartPolicy',
  'restartPolicyRules',
  'livenessProbe',
  'readinessProbe',
  'startupProbe',
  'lifecycle',
] as const;

function validateEphemeralContainers(
  containers: readonly EphemeralContainer[],
  pod: PodSurroundings,
  at: FieldPath,
  faults: Faults,
): void {
  const others = new Set([...(pod.spec.containers ?? []), ...(pod.spec.initContainers ?? [])].map(({ name }) => name));
  const names = new Set(others);
  for (const [index, container] of containers.entries()) {
    const place = at.index(index);
    const { name, targetContainerName } = container;
    validateAnyContainer(container, pod, place, faults);
    validateImagePadding(container, place, faults);
    if (names.has(name)) faults.duplicate(place.child('name'), name);
    names.add(name);
    if (targetContainerName && !others.has(targetContainerName)) {
      faults.notFound(place.child('targetContainerName'), targetContainerName);
    }
    const detail = 'cannot be set for an Ephemeral Container';
    for (const key of NOT_EPHEMERAL) {
      if (isSet(container[key])) faults.forbidden(place.child(key), detail);
    }
    for (const [each, { subPath, subPathExpr }] of (container.volumeMounts ?? []).entries()) {
      const mount = place.child('volumeMounts').index(each);
      if (subPath) faults.forbidden(mount.child('subPath'), detail);
      if (subPathExpr) faults.forbidden(mount.child('subPathExpr'), detail);
    }
  }
}

/** `resources` is always there, and empty where it says nothing. */
function isSet(value: unknown): boolean {
  return value !== undefined && (typeof value !== 'object' || Object.keys(value ?? {}).length > 0);
}

/** Upstream leaves the image of a template be, which may be a blank to be filled in. */
export function validateImagePadding({ image = '' }: Partial<Container>, at: FieldPath, faults: Faults): void {
  if (image.trim().length === image.length) return;
  faults.invalid(at.child('image'), image, 'must not have leading or trailing whitespace');
}

const MESSAGE_POLICIES = ['File', 'FallbackToLogsOnError'];
const PULL_POLICIES = ['Always', 'IfNotPresent', 'Never'];

/** `validateContainerCommon`: what holds of containers of all lists. */
function validateAnyContainer(container: Container, pod: PodSurroundings, at: FieldPath, faults: Faults): void {
  const { name, image, terminationMessagePolicy, imagePullPolicy, resources, resizePolicy, securityContext } =
    container;
  if (!name) faults.required(at.child('name'));
  else validateDnsLabel(name, at.child('name'), faults);
  if (!image) faults.required(at.child('image'));
  validateRequiredChoice(terminationMessagePolicy, MESSAGE_POLICIES, at.child('terminationMessagePolicy'), faults);
  validatePorts(container, at, faults);
  validateEnvironment(container, at, faults);
  validateMounts(container, pod.volumes, at, faults);
  validateRequiredChoice(imagePullPolicy, PULL_POLICIES, at.child('imagePullPolicy'), faults);
  if (resources) {
    const rules = { validateName: validateContainerResourceName, claimNames: pod.claimNames };
    validateResources(resources, at.child('resources'), rules, faults);
  }
  if (resizePolicy) validateResizePolicy(resizePolicy, pod.spec.restartPolicy, at.child('resizePolicy'), faults);
  validateSecurityContext(securityContext, pod.spec.hostUsers !== false, at.child('securityContext'), faults);
}

function validateResizePolicy(
  policies: NonNullable<Container['resizePolicy']>,
  restartPolicyOfPod: string | undefined,
  at: FieldPath,
  faults: Faults,
): void {
  const seen = new Set<string>();
  for (const [index, { resourceName = '', restartPolicy = '' }] of policies.entries()) {
    if (seen.has(resourceName)) faults.duplicate(at.index(index), resourceName);
    seen.add(resourceName);
    validateRequiredChoice(resourceName, ['cpu', 'memory'], at, faults);
    validateRequiredChoice(restartPolicy, ['NotRequired', 'RestartContainer'], at, faults);
    if (restartPolicyOfPod === 'Never' && restartPolicy !== 'NotRequired') {
      faults.invalid(at, restartPolicy, "must be 'NotRequired' when pod `restartPolicy` is 'Never'");
    }
  }
}
