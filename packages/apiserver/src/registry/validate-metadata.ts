import {
  deepEqual,
  type FieldError,
  type KubeObject,
  type ObjectMeta,
  validateAnnotations,
  validateDns1123Label,
  validateDns1123Subdomain,
  validateLabels,
  validateQualifiedName,
} from '@asterism/machinery';
import type { ServedVersion } from './served-version.ts';
import { forbiddenField, invalidValue, required } from './strategy.ts';

/** The rules of apimachinery's `ValidateObjectMeta` on metadata that the server has filled. */
export function validateMetadata(resource: ServedVersion, metadata: ObjectMeta): FieldError[] {
  const { name = '', generateName = '', namespace = '', generation = 0 } = metadata;
  const validateName = resource.strategy.validateName ?? validateDns1123Subdomain;
  const errors: FieldError[] = [];
  if (generateName !== '') {
    const example = generateName.replace(/-+$/, 'a');
    errors.push(...validateName(example).map((fault) => invalidValue('metadata.generateName', generateName, fault)));
  }
  if (name === '') errors.push(required('metadata.name', 'name or generateName is required'));
  else errors.push(...validateName(name).map((fault) => invalidValue('metadata.name', name, fault)));
  if (!resource.type.namespaced) {
    if (namespace !== '') errors.push(forbiddenField('metadata.namespace', 'not allowed on this type'));
  } else if (namespace === '') errors.push(required('metadata.namespace'));
  else
    errors.push(
      ...validateDns1123Label(namespace).map((fault) => invalidValue('metadata.namespace', namespace, fault)),
    );
  if (generation < 0)
    errors.push(invalidValue('metadata.generation', generation, 'must be greater than or equal to 0'));
  errors.push(...validateLabels(metadata.labels ?? {}, 'metadata.labels'));
  errors.push(...validateAnnotations(metadata.annotations ?? {}, 'metadata.annotations'));
  errors.push(...validateOwners(metadata), ...validateFinalizers(metadata));
  return errors;
}

/** What may not change of metadata, by `ValidateObjectMetaUpdate`; some of it is put back before and so never seen here. */
export function validateMetadataUpdate(metadata: ObjectMeta, old: ObjectMeta): FieldError[] {
  const errors: FieldError[] = [];
  if (old.deletionTimestamp !== undefined) {
    const added = (metadata.finalizers ?? []).filter((each) => !old.finalizers?.includes(each));
    if (added.length > 0) {
      const list = `[]string{${added.map((each) => JSON.stringify(each)).join(', ')}}`;
      const detail = `no new finalizers can be added if the object is being deleted, found new finalizers ${list}`;
      errors.push(forbiddenField('metadata.finalizers', detail));
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
    errors.push(invalidValue(`metadata.${field}`, metadata[field] ?? null, 'field is immutable'));
  }
  if ((metadata.generation ?? 0) < (old.generation ?? 0)) {
    errors.push(invalidValue('metadata.generation', metadata.generation ?? 0, 'must not be decremented'));
  }
  return errors;
}

/** Whether anything besides metadata and status differs: what raises the generation. */
export function specChanged(object: KubeObject, old: KubeObject): boolean {
  const { metadata: _m, status: _s, apiVersion: _a, kind: _k, ...rest } = object;
  const { metadata: _om, status: _os, apiVersion: _oa, kind: _ok, ...oldRest } = old;
  return !deepEqual(rest, oldRest);
}

function validateOwners({ ownerReferences = [] }: ObjectMeta): FieldError[] {
  const errors: FieldError[] = [];
  const controllers: string[] = [];
  for (const { apiVersion = '', kind = '', name = '', uid = '', controller } of ownerReferences) {
    const at = 'metadata.ownerReferences';
    if (apiVersion === '') errors.push(invalidValue(`${at}.apiVersion`, apiVersion, 'version must not be empty'));
    if (kind === '') errors.push(invalidValue(`${at}.kind`, kind, 'must not be empty'));
    if (name === '') errors.push(invalidValue(`${at}.name`, name, 'must not be empty'));
    if (uid === '') errors.push(invalidValue(`${at}.uid`, uid, 'must not be empty'));
    if (kind === 'Event' && (apiVersion === 'v1' || apiVersion === 'events.k8s.io/v1')) {
      errors.push(
        invalidValue(at, `${apiVersion}, Kind=Event`, `${apiVersion}, Kind=Event is disallowed from being an owner`),
      );
    }
    if (controller) controllers.push(`${kind}/${name}`);
  }
  if (controllers.length > 1) {
    const detail = `Only one reference can have Controller set to true. Found "true" in references for ${controllers.slice(0, 2).join(' and ')}`;
    errors.push(invalidValue('metadata.ownerReferences', ownerReferences, detail));
  }
  return errors;
}

/** Finalizers of Kubernetes itself that need no domain. */
const STANDARD_FINALIZERS = ['kubernetes', 'orphan', 'foregroundDeletion'];

function validateFinalizers({ finalizers = [] }: ObjectMeta): FieldError[] {
  const errors = finalizers.flatMap((finalizer) =>
    validateQualifiedName(finalizer).map((fault) => invalidValue('metadata.finalizers', finalizer, fault)),
  );
  if (finalizers.includes('orphan') && finalizers.includes('foregroundDeletion')) {
    const detail = 'finalizer orphan and foregroundDeletion cannot be both set';
    errors.push(invalidValue('metadata.finalizers', finalizers, detail));
  }
  return errors;
}

/** A warning for each finalizer that no controller could tell to be its own. */
export function finalizerWarnings({ finalizers = [] }: ObjectMeta): string[] {
  return finalizers
    .filter((finalizer) => !finalizer.includes('/') && !STANDARD_FINALIZERS.includes(finalizer))
    .map(
      (finalizer) =>
        `metadata.finalizers: "${finalizer}": prefer a domain-qualified finalizer name including a path (/) to avoid accidental conflicts with other finalizer writers`,
    );
}
