import {
  compareQuantities,
  type Container,
  type EnvVarSource,
  formatQuantity,
  type ObjectFieldSelector,
  parseQuantity,
  type ResourceFieldSelector,
  validateDns1123Subdomain,
  validateQualifiedName,
} from '@asterism/machinery';
import type { Faults } from '../validation/faults.ts';
import type { FieldPath } from '../validation/field-path.ts';
import { validateDnsLabel, validateConfigKey, validateEnvironmentName } from '../validation/validate-text.ts';
import { validateNoBacksteps } from '../validation/paths-within.ts';

export function validateEnvironment({ env, envFrom }: Container, container: FieldPath, faults: Faults): void {
  for (const [index, { name, value = '', valueFrom }] of (env ?? []).entries()) {
    if (!name) faults.required(container.child('env').index(index).child('name'));
    else {
      const wrong = validateEnvironmentName(name);
      if (wrong.length > 0) faults.invalidEach(container.child('env').index(index).child('name'), name, wrong);
    }
    if (valueFrom) validateSource(valueFrom, value, container.child('env').index(index).child('valueFrom'), faults);
  }
  if (!envFrom) return;
  const at = container.child('envFrom');
  for (const [index, { prefix = '', configMapRef, secretRef }] of envFrom.entries()) {
    if (prefix !== '') faults.invalidEach(at.index(index).child('prefix'), prefix, validateEnvironmentName(prefix));
    if (configMapRef) validateReference(configMapRef.name, at.index(index).child('configMapRef'), faults);
    if (secretRef) validateReference(secretRef.name, at.index(index).child('secretRef'), faults);
    if (!configMapRef && !secretRef) faults.invalid(at, '', 'must specify one of: `configMapRef` or `secretRef`');
    else if (configMapRef && secretRef) faults.invalid(at, '', ONE_SOURCE);
  }
}

const ONE_SOURCE = 'may not have more than one field specified at a time';

function validateReference(name: string | undefined, at: FieldPath, faults: Faults): void {
  if (!name) faults.required(at.child('name'));
  // Upstream takes a name that a suffix could follow, which may end in a dash.
  else faults.invalidEach(at.child('name'), name, validateDns1123Subdomain(name.replace(/(?<=.)-$/, 'a')));
}

/** Fields of a pod that an environment variable may show. */
const ENVIRONMENT_FIELDS = [
  'metadata.name',
  'metadata.namespace',
  'metadata.uid',
  'spec.nodeName',
  'spec.serviceAccountName',
  'status.hostIP',
  'status.hostIPs',
  'status.podIP',
  'status.podIPs',
];

function validateSource(source: EnvVarSource, value: string, at: FieldPath, faults: Faults): void {
  const { fieldRef, resourceFieldRef, configMapKeyRef, secretKeyRef, fileKeyRef } = source;
  if (fieldRef) validateFieldRef(fieldRef, ENVIRONMENT_FIELDS, at.child('fieldRef'), faults);
  if (resourceFieldRef) validateResourceFieldRef(resourceFieldRef, false, at.child('resourceFieldRef'), faults);
  if (configMapKeyRef) validateKeyRef(configMapKeyRef, at.child('configMapKeyRef'), faults);
  if (secretKeyRef) validateKeyRef(secretKeyRef, at.child('secretKeyRef'), faults);
  if (fileKeyRef) {
    const { key, volumeName, path } = fileKeyRef;
    const place = at.child('fileKeyRef');
    if (!key) faults.required(place.child('key'));
    else faults.invalidEach(place.child('key'), key, validateEnvironmentName(key));
    if (!volumeName) faults.required(place.child('volumeName'));
    else validateDnsLabel(volumeName, place.child('volumeName'), faults);
    if (!path) faults.required(place.child('path'));
    else validateNoBacksteps(path, place.child('path'), faults);
  }
  const count = [fieldRef, resourceFieldRef, configMapKeyRef, secretKeyRef, fileKeyRef].filter(Boolean).length;
  if (count === 0) {
    faults.invalid(
      at,
      '',
      'must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`',
    );
  } else if (value !== '') faults.invalid(at, '', 'may not be specified when `value` is not empty');
  else if (count > 1) faults.invalid(at, '', ONE_SOURCE);
}

function validateKeyRef({ name = '', key = '' }: { name?: string; key?: string }, at: FieldPath, faults: Faults): void {
  faults.invalidEach(at.child('name'), name, validateDns1123Subdomain(name));
  if (key === '') faults.required(at.child('key'));
  else faults.invalidEach(at.child('key'), key, validateConfigKey(key));
}

/** Paths that `v1` knows for the downward API, whatever of it may use them. */
const DOWNWARD_FIELDS = new Set([
  'metadata.annotations',
  'metadata.labels',
  'metadata.name',
  'metadata.namespace',
  'metadata.uid',
  'spec.nodeName',
  'spec.restartPolicy',
  'spec.serviceAccountName',
  'spec.schedulerName',
  'status.phase',
  'status.hostIP',
  'status.hostIPs',
  'status.podIP',
  'status.podIPs',
]);

/** `SplitMaybeSubscriptedPath`: `metadata.labels['a']` is the label `a`. */
function splitSubscript(fieldPath: string): { path: string; subscript?: string } {
  const open = fieldPath.indexOf("['", 1);
  if (open < 0 || !fieldPath.endsWith("']") || open + 4 > fieldPath.length) return { path: fieldPath };
  return { path: fieldPath.slice(0, open), subscript: fieldPath.slice(open + 2, -2) };
}

/** `validateObjectFieldSelector`: `fields` are those that may be shown here. */
export function validateFieldRef(
  { apiVersion, fieldPath }: Partial<ObjectFieldSelector>,
  fields: readonly string[],
  at: FieldPath,
  faults: Faults,
): void {
  if (!apiVersion) return faults.required(at.child('apiVersion'));
  if (!fieldPath) return faults.required(at.child('fieldPath'));
  const { path, subscript } = splitSubscript(fieldPath);
  const converted = path === 'spec.host' ? 'spec.nodeName' : path;
  const wrong =
    apiVersion !== 'v1'
      ? `unsupported pod version: ${apiVersion}`
      : subscript !== undefined && path !== 'metadata.annotations' && path !== 'metadata.labels'
        ? `field label does not support subscript: ${fieldPath}`
        : DOWNWARD_FIELDS.has(converted)
          ? undefined
          : `field label not supported: ${fieldPath}`;
  if (wrong !== undefined) {
    return faults.invalid(at.child('fieldPath'), fieldPath, `error converting fieldPath: ${wrong}`);
  }
  if (subscript !== undefined) {
    const key = path === 'metadata.annotations' ? subscript.toLowerCase() : subscript;
    faults.invalidEach(at, key, validateQualifiedName(key));
  } else if (!fields.includes(converted)) faults.notSupported(at.child('fieldPath'), converted, fields);
}

const RESOURCE_FIELDS = [
  'limits.cpu',
  'limits.ephemeral-storage',
  'limits.memory',
  'requests.cpu',
  'requests.ephemeral-storage',
  'requests.memory',
];
const HUGE_PAGES_FIELD = /^(limits|requests)\.hugepages-/;
const BYTE_DIVISORS = ['1', '1k', '1M', '1G', '1T', '1P', '1E', '1Ki', '1Mi', '1Gi', '1Ti', '1Pi', '1Ei'];

/** `validateContainerResourceFieldSelector`; a volume has to say whose resources it shows. */
export function validateResourceFieldRef(
  { containerName, resource = '', divisor = '0' }: Partial<ResourceFieldSelector>,
  ofVolume: boolean,
  at: FieldPath,
  faults: Faults,
): void {
  if (ofVolume && !containerName) faults.required(at.child('containerName'));
  else if (resource === '') faults.required(at.child('resource'));
  else if (!RESOURCE_FIELDS.includes(resource) && !HUGE_PAGES_FIELD.test(resource)) {
    faults.notSupported(at.child('resource'), resource, RESOURCE_FIELDS);
  }
  const quantity = parseQuantity(divisor);
  if (compareQuantities(quantity, parseQuantity('0')) === 0) return;
  const text = formatQuantity(quantity);
  const place = at.child('divisor');
  const bytes = `only divisor's values ${BYTE_DIVISORS.join(', ')} are supported with the`;
  const [, name = ''] = resource.split('.', 2);
  if (name === 'cpu') {
    if (text !== '1' && text !== '1m') {
      faults.invalid(place, resource, "only divisor's values 1m and 1 are supported with the cpu resource");
    }
  } else if (BYTE_DIVISORS.includes(text)) return;
  else if (name === 'memory') faults.invalid(place, resource, `${bytes} memory resource`);
  else if (name === 'ephemeral-storage') faults.invalid(place, resource, `${bytes} local ephemeral storage resource`);
  else if (HUGE_PAGES_FIELD.test(resource)) faults.invalid(place, resource, `${bytes} hugepages resource`);
}
