import type { Container, EphemeralContainer, PodSpec, Volume } from '@asterism/machinery';
import type { Faults } from '../validation/faults.ts';
import type { FieldPath } from '../validation/field-path.ts';
import { checkEnvironment } from './validate-environment.ts';
import { checkHandlers } from './validate-handlers.ts';
import { checkMounts } from './validate-mounts.ts';
import { checkHostPorts, checkPorts } from './validate-ports.ts';
import { checkResources } from './validate-resources.ts';
import { checkRestartRules } from './validate-restart-rules.ts';
import { checkSecurityContext } from './validate-security.ts';
import { checkDnsLabel, checkRequiredChoice } from '../validation/validate-text.ts';
import { checkContainerResourceName } from './resource-names.ts';

/** What containers refer to in their pod. */
export interface PodSurroundings {
  spec: PodSpec;
  /** The pod's volumes without faults, by name. */
  volumes: ReadonlyMap<string, Volume>;
  claimNames: ReadonlySet<string>;
  isPod: boolean;
}

/** The containers of a pod's three lists; `at` is that of the spec. */
export function checkContainers(pod: PodSurroundings, at: FieldPath, faults: Faults): void {
  const { containers, initContainers = [], ephemeralContainers = [] } = pod.spec;
  checkMainContainers(containers ?? [], pod, at.child('containers'), faults);
  if (initContainers.length > 0) checkInitContainers(initContainers, pod, at.child('initContainers'), faults);
  if (ephemeralContainers.length > 0) {
    checkEphemeralContainers(ephemeralContainers, pod, at.child('ephemeralContainers'), faults);
  }
}

function checkMainContainers(
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
    checkAnyContainer(container, pod, place, faults);
    const { name } = container;
    if (names.has(name)) faults.duplicate(place.child('name'), name);
    names.add(name);
    checkHandlers(container, place, around, faults);
    checkRestartRules(container, place, faults);
  }
  checkHostPorts(containers, at, faults);
}

/** Only a sidecar, which is an init container that is restarted always, may have what serves while the pod runs. */
const OF_SIDECARS = ['lifecycle', 'livenessProbe', 'readinessProbe', 'startupProbe'] as const;

function checkInitContainers(
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
    checkAnyContainer(container, pod, place, faults);
    checkRestartRules(container, place, faults);
    if (names.has(name)) faults.duplicate(place.child('name'), name);
    else if (name !== '') names.add(name);
    // They run one after the other, so that each may have a port of the node. Upstream tells the list, not the container.
    checkHostPorts([container], at, faults);
    if (restartPolicy === 'Always') {
      checkHandlers(container, place, around, faults);
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

function checkEphemeralContainers(
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
    checkAnyContainer(container, pod, place, faults);
    checkImagePadding(container, place, faults);
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
export function checkImagePadding({ image = '' }: Partial<Container>, at: FieldPath, faults: Faults): void {
  if (image.trim().length === image.length) return;
  faults.invalid(at.child('image'), image, 'must not have leading or trailing whitespace');
}

const MESSAGE_POLICIES = ['File', 'FallbackToLogsOnError'];
const PULL_POLICIES = ['Always', 'IfNotPresent', 'Never'];

/** `validateContainerCommon`: what holds of containers of all lists. */
function checkAnyContainer(container: Container, pod: PodSurroundings, at: FieldPath, faults: Faults): void {
  const { name, image, terminationMessagePolicy, imagePullPolicy, resources, resizePolicy, securityContext } =
    container;
  if (!name) faults.required(at.child('name'));
  else checkDnsLabel(name, at.child('name'), faults);
  if (!image) faults.required(at.child('image'));
  checkRequiredChoice(terminationMessagePolicy, MESSAGE_POLICIES, at.child('terminationMessagePolicy'), faults);
  checkPorts(container, at, faults);
  checkEnvironment(container, at, faults);
  checkMounts(container, pod.volumes, at, faults);
  checkRequiredChoice(imagePullPolicy, PULL_POLICIES, at.child('imagePullPolicy'), faults);
  if (resources) {
    const rules = { checkName: checkContainerResourceName, claimNames: pod.claimNames };
    checkResources(resources, at.child('resources'), rules, faults);
  }
  if (resizePolicy) checkResizePolicy(resizePolicy, pod.spec.restartPolicy, at.child('resizePolicy'), faults);
  checkSecurityContext(securityContext, pod.spec.hostUsers !== false, at.child('securityContext'), faults);
}

function checkResizePolicy(
  policies: NonNullable<Container['resizePolicy']>,
  restartPolicyOfPod: string | undefined,
  at: FieldPath,
  faults: Faults,
): void {
  const seen = new Set<string>();
  for (const [index, { resourceName = '', restartPolicy = '' }] of policies.entries()) {
    if (seen.has(resourceName)) faults.duplicate(at.index(index), resourceName);
    seen.add(resourceName);
    checkRequiredChoice(resourceName, ['cpu', 'memory'], at, faults);
    checkRequiredChoice(restartPolicy, ['NotRequired', 'RestartContainer'], at, faults);
    if (restartPolicyOfPod === 'Never' && restartPolicy !== 'NotRequired') {
      faults.invalid(at, restartPolicy, "must be 'NotRequired' when pod `restartPolicy` is 'Never'");
    }
  }
}
