import { cloneJson } from '@asterism/machinery';
import { type Fields, fieldsAt, optionalFields, setDefaults, setDefaultText, textAt } from '../fields/draft-fields.ts';
import { persistentVolumeClaimWarnings } from '../persistent-volume/warnings.ts';
import { validateClaimStatus } from './status.ts';
import type { Kind } from '../../contract/kind.ts';
import { validateClaim, validateClaimUpdate } from './validation.ts';

export const persistentVolumeClaimKind: Kind = {
  groupResource: 'persistentvolumeclaims',
  strategy: {
    returnsDeleted: true,
    metadataChecks: 4,
    applyDefaults: defaultPersistentVolumeClaim,

    prepareForCreate(draft) {
      draft.status = { phase: 'Pending' };
      settleSources(fieldsAt(draft, 'spec'), undefined);
    },

    prepareForUpdate(draft, old) {
      settleSources(fieldsAt(draft, 'spec'), optionalFields(old, 'spec'));
    },

    validateCreate: validateClaim,
    validateUpdate: validateClaimUpdate,
    validateStatus: validateClaimStatus,
    warnings: persistentVolumeClaimWarnings,
  },
};

/** Also of the claims that StatefulSets make. */
export function defaultPersistentVolumeClaim(claim: Fields): void {
  setDefaults(fieldsAt(claim, 'spec'), { volumeMode: 'Filesystem' });
  setDefaultText(fieldsAt(claim, 'status'), 'phase', 'Pending');
}

/** `dataSource` is the older of the two, and limited to some kinds; each says what the other does (KEP-1495). */
function settleSources(spec: Fields, old: Fields | undefined): void {
  const hadSource = old?.dataSource !== undefined || old?.dataSourceRef !== undefined;
  if (optionalFields(spec, 'dataSourceRef')?.namespace && old?.dataSourceRef === undefined) delete spec.dataSourceRef;
  if (!hadSource && spec.dataSourceRef === undefined && !isKnownSource(optionalFields(spec, 'dataSource')))
    delete spec.dataSource;
  if (spec.dataSource && !spec.dataSourceRef) spec.dataSourceRef = cloneJson(spec.dataSource);
  else if (spec.dataSourceRef && !spec.dataSource && !optionalFields(spec, 'dataSourceRef')?.namespace)
    spec.dataSource = cloneJson(spec.dataSourceRef);
}

function isKnownSource(source: Fields | undefined): boolean {
  const group = textAt(source, 'apiGroup');
  if (source?.kind === 'PersistentVolumeClaim') return group === '';
  return source?.kind === 'VolumeSnapshot' && group === 'snapshot.storage.k8s.io';
}
