import {
  type PersistentVolumeClaimSpec,
  type PersistentVolumeClaimTemplate,
  parseQuantity,
  validateAnnotations,
} from '@asterism/machinery';
import type { Faults } from '../validation/faults.ts';
import type { FieldPath } from '../validation/field-path.ts';
import { checkLabelSelector, checkLabels } from '../validation/validate-selector.ts';
import { checkQuantity } from './validate-resources.ts';
import { checkChoice, checkDnsLabel, checkSubdomain } from '../validation/validate-text.ts';

/** The claim that a generic ephemeral volume makes. */
export function checkClaimTemplate(
  template: PersistentVolumeClaimTemplate | undefined,
  at: FieldPath,
  faults: Faults,
): void {
  if (!template) return faults.required(at);
  const { metadata = {}, spec } = template;
  const place = at.child('metadata');
  faults.addAll(validateAnnotations(metadata.annotations ?? {}, place.child('annotations').toString()));
  checkLabels(metadata.labels, place.child('labels'), faults);
  for (const [key, value] of Object.entries(metadata)) {
    // Times are values in Go, which are there even where they are not set.
    if (key === 'labels' || key === 'annotations' || value === null || value === '' || value === 0) continue;
    faults.forbidden(place.child(key), 'cannot be set');
  }
  checkClaimSpec(spec, at.child('spec'), faults);
}

const ACCESS_MODES = ['ReadOnlyMany', 'ReadWriteMany', 'ReadWriteOnce', 'ReadWriteOncePod'];

/** `ValidatePersistentVolumeClaimSpec`. */
export function checkClaimSpec(spec: PersistentVolumeClaimSpec | undefined, at: FieldPath, faults: Faults): void {
  const { accessModes = [], selector, resources, storageClassName, volumeMode } = spec ?? {};
  const modes = at.child('accessModes');
  if (accessModes.length === 0) faults.required(modes, 'at least 1 access mode is required');
  checkLabelSelector(selector, at.child('selector'), faults);
  for (const mode of accessModes) checkChoice(mode, ACCESS_MODES, modes, faults);
  if (accessModes.includes('ReadWriteOncePod')) {
    const others = accessModes.some((mode) => mode !== 'ReadWriteOncePod' && ACCESS_MODES.includes(mode));
    if (others) faults.forbidden(modes, 'may not use ReadWriteOncePod with other access modes');
  }
  const storage = resources?.requests?.storage;
  const place = at.child('resources').key('storage');
  if (storage === undefined) faults.required(place);
  else if (parseQuantity(storage).nanos <= 0n) faults.invalid(place, String(storage), 'must be greater than zero');
  else checkQuantity('storage', storage, place, faults);
  if (storageClassName) checkSubdomain(storageClassName, at.child('storageClassName'), faults);
  checkChoice(volumeMode, ['Block', 'Filesystem'], at.child('volumeMode'), faults);
  checkSources(spec ?? {}, at, faults);
  const attributes = spec?.volumeAttributesClassName;
  if (attributes) checkSubdomain(attributes, at.child('volumeAttributesClassName'), faults);
}

function checkSources({ dataSource, dataSourceRef }: PersistentVolumeClaimSpec, at: FieldPath, faults: Faults): void {
  if (dataSource) checkSource(dataSource, at.child('dataSource'), faults);
  if (!dataSourceRef) return;
  checkSource(dataSourceRef, at.child('dataSourceRef'), faults);
  const { namespace } = dataSourceRef;
  if (namespace) checkDnsLabel(namespace, at.child('dataSourceRef').child('namespace'), faults);
  if (!dataSource) return;
  if (namespace) {
    faults.invalid(at, {}, 'may not be specified when dataSourceRef.namespace is specified');
    return;
  }
  const same =
    (dataSource.apiGroup ?? null) === (dataSourceRef.apiGroup ?? null) &&
    dataSource.kind === dataSourceRef.kind &&
    dataSource.name === dataSourceRef.name;
  if (!same) faults.invalid(at, {}, 'must match dataSourceRef');
}

function checkSource(
  { apiGroup, kind = '', name }: { apiGroup?: string | null; kind?: string; name?: string },
  at: FieldPath,
  faults: Faults,
): void {
  if (!name) faults.required(at.child('name'));
  if (kind === '') faults.required(at.child('kind'));
  if (!apiGroup && kind !== 'PersistentVolumeClaim') {
    faults.invalid(at, kind, "must be 'PersistentVolumeClaim' when referencing the default apiGroup");
  }
  if (apiGroup) checkSubdomain(apiGroup, at.child('apiGroup'), faults);
}
