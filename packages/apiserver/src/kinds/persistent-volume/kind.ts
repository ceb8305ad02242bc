import { deepEqual, type FieldError, fieldForbidden, type KubeObject } from '@asterism/machinery';
import { type Fields, fieldsAt, optionalFields, setDefaults, setDefaultText } from '../fields/draft-fields.ts';
import { Faults } from '../validation/faults.ts';
import { FieldPath } from '../validation/field-path.ts';
import { validateImmutable } from '../validation/immutable-field.ts';
import { defaultVolumeSource } from '../pod-spec/pod-spec-defaults.ts';
import { internalForm } from '../validation/internal-form.ts';
import { unifiedDiff } from '../validation/unified-diff.ts';
import { validatePersistentVolumeSpec } from './validation.ts';
import { persistentVolumeWarnings } from './warnings.ts';
import type { Kind } from '../../contract/kind.ts';

export const persistentVolumeKind: Kind = {
  groupResource: 'persistentvolumes',
  strategy: {
    returnsDeleted: true,

    applyDefaults(draft) {
      const spec = fieldsAt(draft, 'spec');
      defaultVolumeSource(spec);
      setDefaultText(spec, 'persistentVolumeReclaimPolicy', 'Retain');
      setDefaults(spec, { volumeMode: 'Filesystem' });
    },

    prepareForCreate(draft, { now }) {
      draft.status = { phase: 'Pending', lastPhaseTransitionTime: now };
    },

    parts: {
      /** The time of a change of the phase is the server's to say, unless the writer does. */
      status(draft, old, { now }) {
        const status = { ...optionalFields(draft, 'status') };
        const before = optionalFields(old, 'status') ?? {};
        const time = status.lastPhaseTransitionTime;
        if (status.phase !== before.phase && (!time || time === before.lastPhaseTransitionTime))
          status.lastPhaseTransitionTime = now;
        return { ...old, metadata: draft.metadata, status };
      },
    },

    validateCreate: validateVolume,

    validateUpdate(object, old) {
      const spec = optionalFields(object, 'spec') ?? {};
      const before = optionalFields(old, 'spec') ?? {};
      const faults = validateVolume(object);
      const now = internalForm('PersistentVolumeSource', withoutNewSecret(spec, before));
      const was = internalForm('PersistentVolumeSource', before);
      if (!deepEqual(now, was)) {
        const detail = `spec.persistentvolumesource is immutable after creation\n${unifiedDiff(was, now)}`;
        faults.push(fieldForbidden('spec.persistentvolumesource', detail));
      }
      faults.push(...validateImmutable(spec, before, '', ['volumeMode']));
      if (before.nodeAffinity !== undefined) faults.push(...validateImmutable(spec, before, '', ['nodeAffinity']));
      if (before.volumeAttributesClassName !== undefined && spec.volumeAttributesClassName === undefined) {
        const detail = 'update from non-nil value to nil is forbidden';
        faults.push(fieldForbidden('spec.volumeAttributesClassName', detail));
      }
      return faults;
    },

    validateStatus: () => [],
    warnings: persistentVolumeWarnings,
  },
};

function validateVolume(object: KubeObject): FieldError[] {
  const faults = new Faults();
  validatePersistentVolumeSpec(optionalFields(object, 'spec') ?? {}, FieldPath.of('spec'), {
    name: object.metadata?.name ?? '',
    inline: false,
    faults,
  });
  return faults.found;
}

/** The secret for expansion may be named later. */
function withoutNewSecret(spec: Fields, before: Fields): Fields {
  const csi = optionalFields(spec, 'csi');
  const had = optionalFields(before, 'csi');
  if (!csi || !had || had.controllerExpandSecretRef !== undefined) return spec;
  const { controllerExpandSecretRef: _, ...rest } = csi;
  return { ...spec, csi: rest };
}
