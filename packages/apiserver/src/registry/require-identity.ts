import { conflict, failure, type KubeObject } from '@asterism/machinery';
import type { ServedVersion } from './served-version.ts';
import type { Draft } from '../contract/strategy.ts';

/** 400 if the name of the object differs from the URL's, or is missing. */
export function requireName({ metadata }: Draft, name: string): void {
  if (!metadata.name) {
    throw failure(400, `the name of the object (${name} based on URL) was undeterminable: name must be provided`);
  }
  if (metadata.name !== name) {
    throw failure(400, `the name of the object (${metadata.name}) does not match the name on the URL (${name})`);
  }
}

/** 409 for a PUT with another uid: it is meant for another object of the same name. */
export function requireSameObject(
  resource: ServedVersion,
  name: string,
  { metadata: { uid } }: Draft,
  old: KubeObject,
): void {
  const current = old.metadata ?? {};
  if (uid && uid !== current.uid) {
    const place =
      resource.storage === 'custom' ? `${resource.type.group}/${resource.type.resource}` : resource.type.resource;
    const key = `/registry/${place}/${current.namespace ? `${current.namespace}/` : ''}${name}`;
    throw conflict(
      resource.type,
      name,
      `StorageError: invalid object, Code: 4, Key: ${key}, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID in precondition: ${uid}, UID in object meta: ${current.uid}`,
    );
  }
}

/** 409 for an apply that expects a uid, where there is no object. */
export function requireNoUid(resource: ServedVersion, name: string, { metadata: { uid } }: Draft): void {
  if (!uid) return;
  throw conflict(
    resource.type,
    name,
    `uid mismatch: the provided object specified uid ${uid}, and no existing object was found`,
  );
}

/** 422 for an update without a resourceVersion, of a kind that requires it. Upstream names the resource here, where other 422s name the kind. */
export function requireGivenRevision(resource: ServedVersion, name: string, { metadata }: Draft): void {
  if (metadata.resourceVersion !== undefined || !resource.strategy.requiresResourceVersion) return;
  const { group, resource: plural } = resource.type;
  const cause = {
    reason: 'FieldValueInvalid',
    message: 'Invalid value: 0: must be specified for an update',
    field: 'metadata.resourceVersion',
  };
  throw failure(422, `${resource.groupResource} "${name}" is invalid: ${cause.field}: ${cause.message}`, {
    details: { name, ...(group ? { group } : {}), kind: plural, causes: [cause] },
  });
}
