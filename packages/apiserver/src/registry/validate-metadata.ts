import {
  deepEqual,
  type FieldError,
  fieldForbidden,
  fieldRequired,
  type KubeObject,
  type ObjectMeta,
  type OwnerReference,
  validateAnnotations,
  validateDns1123Label,
  validateDns1123Subdomain,
  validateLabels,
  validateQualifiedName,
  withoutTrailing,
} from '@asterism/machinery';
import type { ServedVersion } from './served-version.ts';
import { validateManagedFields } from './validate-managed-fields.ts';
import { invalidValue } from './invalid-value.ts';

/** The rules of apimachinery's `ValidateObjectMeta` on metadata that the server has filled. */
export function validateMetadata(resource: ServedVersion, metadata: ObjectMeta): FieldError[] {
  const { name = '', generateName = '', namespace = '', generation = 0 } = metadata;
  const validateName = resource.strategy.validateName ?? validateDns1123Subdomain;
  const faults: FieldError[] = [];
  if (generateName !== '') {
    const example = maskTrailingDashes(generateName);
    faults.push(...validateName(example).map((fault) => invalidValue('metadata.generateName', generateName, fault)));
  }
  if (name === '') faults.push(fieldRequired('metadata.name', 'name or generateName is required'));
  else faults.push(...validateName(name).map((fault) => invalidValue('metadata.name', name, fault)));
  if (!resource.type.namespaced) {
    if (namespace !== '') faults.push(fieldForbidden('metadata.namespace', 'not allowed on this type'));
  } else if (namespace === '') faults.push(fieldRequired('metadata.namespace'));
  else
    faults.push(
      ...validateDns1123Label(namespace).map((fault) => invalidValue('metadata.namespace', namespace, fault)),
    );
  if (generation < 0)
    faults.push(invalidValue('metadata.generation', generation, 'must be greater than or equal to 0'));
  faults.push(...validateLabels(metadata.labels ?? {}, 'metadata.labels'));
  faults.push(...validateAnnotations(metadata.annotations ?? {}, 'metadata.annotations'));
  faults.push(...validateOwners(metadata), ...validateFinalizers(metadata));
  return faults.concat(validateManagedFields(metadata.managedFields ?? [], 'metadata.managedFields'));
}

/** A name with a trailing dash is valid where a suffix follows: apimachinery's `maskTrailingDash`. */
function maskTrailingDashes(generateName: string): string {
  return generateName.endsWith('-') ? `${withoutTrailing(generateName, '-')}a` : generateName;
}

/** What may not change of metadata, by `ValidateObjectMetaUpdate`; some of it is put back before and so never seen here. */
export function validateMetadataUpdate(metadata: ObjectMeta, old: ObjectMeta): FieldError[] {
  const faults: FieldError[] = [];
  if (old.deletionTimestamp !== undefined) {
    const added = (metadata.finalizers ?? []).filter((each) => !old.finalizers?.includes(each));
    if (added.length > 0) {
      const list = `[]string{${added.map((each) => JSON.stringify(each)).join(', ')}}`;
      const detail = `no new finalizers can be added if the object is being deleted, found new finalizers ${list}`;
      faults.push(fieldForbidden('metadata.finalizers', detail));
    }
  }
  for (const field of [
    'name',
    'namespace',
    'uid',
    'creationTimestamp',
    'deletionTimestamp',
    'deletionGracePeriodSeconds',
  ] as const) {
    if (metadata[field] === old[field]) continue;
    faults.push(invalidValue(`metadata.${field}`, metadata[field] ?? null, 'field is immutable'));
  }
  if ((metadata.generation ?? 0) < (old.generation ?? 0)) {
    faults.push(invalidValue('metadata.generation', metadata.generation ?? 0, 'must not be decremented'));
  }
  return faults;
}

/** Whether anything besides metadata and status differs: what raises the generation. */
export function specChanged(object: KubeObject, old: KubeObject): boolean {
  const { metadata: _m, status: _s, apiVersion: _a, kind: _k, ...rest } = object;
  const { metadata: _om, status: _os, apiVersion: _oa, kind: _ok, ...oldRest } = old;
  return !deepEqual(rest, oldRest);
}

function validateOwners({ ownerReferences = [] }: ObjectMeta): FieldError[] {
  const faults: FieldError[] = [];
  const at = 'metadata.ownerReferences';
  let controller: string | undefined;
  // Each of these faults shows all references: their text is made once, or a few thousand would fill the memory.
  let shown: FieldError | undefined;
  for (const owner of ownerReferences) {
    faults.push(...validateOwner(owner, at));
    if (!owner.controller) continue;
    const label = `${owner.kind}/${owner.name}`;
    if (controller !== undefined) {
      const detail = `Only one reference can have Controller set to true. Found "true" in references for ${controller} and ${label}`;
      shown ??= invalidValue(at, ownerReferences, '');
      faults.push({ ...shown, message: `${shown.message}: ${detail}` });
    }
    controller ??= label;
  }
  return faults;
}

function validateOwner(owner: OwnerReference, at: string): FieldError[] {
  const { apiVersion = '', kind = '', name = '', uid = '' } = owner as Partial<OwnerReference>;
  const parts = apiVersion.split('/');
  const faults: FieldError[] = [];
  // More than one slash is no version at all.
  if (parts.length > 2 || (parts.at(-1) ?? '') === '')
    faults.push(invalidValue(`${at}.apiVersion`, apiVersion, 'version must not be empty'));
  for (const [key, text] of Object.entries({ kind, name, uid }))
    if (text === '') faults.push(invalidValue(`${at}.${key}`, text, 'must not be empty'));
  if (apiVersion === 'v1' && kind === 'Event')
    faults.push(invalidValue(at, owner, '/v1, Kind=Event is disallowed from being an owner'));
  return faults;
}

/** What core validation asks of finalizers beyond apimachinery's. */
export function validateFinalizerNames(
  { storage, strategy }: ServedVersion,
  { finalizers = [] }: ObjectMeta,
): FieldError[] {
  if (finalizers.length === 0 || storage !== 'builtin' || strategy.allowsAnyFinalizer) return [];
  return finalizers.flatMap((finalizer, index) => {
    if (finalizer.includes('/') || STANDARD_FINALIZERS.includes(finalizer)) return [];
    const detail = 'name is neither a standard finalizer name nor is it fully qualified';
    return [invalidValue(`metadata.finalizers[${index}]`, finalizer, detail)];
  });
}

/** Finalizers of Kubernetes itself that need no domain. */
const STANDARD_FINALIZERS = ['kubernetes', 'orphan', 'foregroundDeletion'];

function validateFinalizers({ finalizers = [] }: ObjectMeta): FieldError[] {
  const faults = finalizers.flatMap((finalizer) =>
    validateQualifiedName(finalizer).map((fault) => invalidValue('metadata.finalizers', finalizer, fault)),
  );
  if (finalizers.includes('orphan') && finalizers.includes('foregroundDeletion')) {
    const detail = 'finalizer orphan and foregroundDeletion cannot be both set';
    faults.push(invalidValue('metadata.finalizers', finalizers, detail));
  }
  return faults;
}

/** A warning for each finalizer that this write adds and that no controller could tell to be its own. */
export function finalizerWarnings({ finalizers = [] }: ObjectMeta, old: ObjectMeta = {}): string[] {
  if (finalizers.length === 0) return [];
  const added = new Set(finalizers).difference(new Set(old.finalizers));
  return [...added]
    .filter((finalizer) => !finalizer.includes('/') && !STANDARD_FINALIZERS.includes(finalizer))
    .sort()
    .map(
      (finalizer) =>
        `metadata.finalizers: "${finalizer}": prefer a domain-qualified finalizer name including a path (/) to avoid accidental conflicts with other finalizer writers`,
    );
}
