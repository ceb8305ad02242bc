import { validateQualifiedName } from '@asterism/machinery';
import type { Faults } from '../validation/faults.ts';
import type { FieldPath } from '../validation/field-path.ts';

/** Names without a domain that mean something somewhere: containers, pods, quotas, nodes. */
const STANDARD = new Set([
  'cpu',
  'memory',
  'ephemeral-storage',
  'requests.cpu',
  'requests.memory',
  'requests.ephemeral-storage',
  'limits.cpu',
  'limits.memory',
  'limits.ephemeral-storage',
  'pods',
  'resourcequotas',
  'services',
  'replicationcontrollers',
  'secrets',
  'configmaps',
  'persistentvolumeclaims',
  'storage',
  'requests.storage',
  'services.nodeports',
  'services.loadbalancers',
]);
const OF_CONTAINERS = new Set(['cpu', 'memory', 'ephemeral-storage']);
/** Resources that are counted in whole numbers. */
const WHOLE = new Set([
  'pods',
  'services',
  'replicationcontrollers',
  'resourcequotas',
  'secrets',
  'configmaps',
  'persistentvolumeclaims',
  'services.nodeports',
  'services.loadbalancers',
]);

export function isHugePages(name: string): boolean {
  return name.startsWith('hugepages-');
}

/** Resources of Kubernetes itself: without a domain, or with one of its own. */
export function isNativeResource(name: string): boolean {
  return !name.includes('/') || name.includes('kubernetes.io/');
}

/** Whether a limit may be above what is requested. */
export function isOvercommitAllowed(name: string): boolean {
  return isNativeResource(name) && !isHugePages(name);
}

/** Resources that device plugins bring along. */
export function isExtendedResource(name: string): boolean {
  if (isNativeResource(name) || name.startsWith('requests.')) return false;
  return validateQualifiedName(`requests.${name}`).length === 0;
}

export function isWholeResource(name: string): boolean {
  return WHOLE.has(name) || isExtendedResource(name);
}

/** `validateResourceName`; false where there were faults. */
export function validateResourceName(name: string, at: FieldPath, faults: Faults): boolean {
  const wrong = validateQualifiedName(name);
  if (wrong.length > 0) {
    faults.invalidEach(at, name, wrong);
    return false;
  }
  if (name.includes('/') || STANDARD.has(name) || isHugePages(name) || name.startsWith('requests.hugepages-'))
    return true;
  faults.invalid(at, name, 'must be a standard resource type or fully qualified');
  return false;
}

/** `validateContainerResourceName`. */
export function validateContainerResourceName(name: string, at: FieldPath, faults: Faults): void {
  if (OF_CONTAINERS.has(name)) return;
  validateResourceName(name, at, faults);
  if (!name.includes('/')) {
    if (!isHugePages(name)) faults.invalid(at, name, 'must be a standard resource for containers');
  } else if (!isNativeResource(name) && !isExtendedResource(name)) {
    faults.invalid(at, name, "doesn't follow extended resource name standard");
  }
}

/** `validatePodResourceName`: what a pod as a whole may ask for. */
export function validatePodResourceName(name: string, at: FieldPath, faults: Faults): void {
  if (!validateResourceName(name, at, faults)) return;
  if (name !== 'cpu' && name !== 'memory' && !isHugePages(name))
    faults.notSupported(at, name, ['cpu', 'hugepages-', 'memory']);
}
