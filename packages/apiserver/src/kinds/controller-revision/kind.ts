import { deepEqual, type FieldError, fieldRequired, type KubeObject } from '@asterism/machinery';
import { numberAt } from '../fields/draft-fields.ts';
import { invalidValue } from '../../registry/invalid-value.ts';
import type { Kind } from '../../contract/kind.ts';

export const controllerRevisionKind: Kind = {
  groupResource: 'controllerrevisions.apps',
  strategy: {
    metadataChecks: 4,
    validateCreate: validateRevision,

    validateUpdate(object, old) {
      const faults = validateRevision(object);
      if (!deepEqual(object.data ?? null, old.data ?? null))
        faults.push(invalidValue('data', object.data ?? null, 'field is immutable'));
      return faults;
    },
  },
};

function validateRevision(object: KubeObject): FieldError[] {
  const revision = numberAt(object, 'revision') ?? 0;
  return [
    ...(object.data === undefined || object.data === null ? [fieldRequired('data', 'data is mandatory')] : []),
    ...(revision < 0 ? [invalidValue('revision', revision, 'must be greater than or equal to 0')] : []),
  ];
}
