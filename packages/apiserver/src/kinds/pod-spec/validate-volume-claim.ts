import {
  type PersistentVolumeClaimSpec,
  type PersistentVolumeClaimTemplate,
  parseQuantity,
  validateAnnotations,
} from '@asterism/machinery';
import type { Faults } from '../validation/faults.ts';
import type { FieldPath } from '../validation/field-path.ts';
import { validateLabelSelector, validateLabelsAt } from '../validation/validate-label-selector.ts';
import { validateQuantity } from './validate-resources.ts';
import { validateChoice, validateDnsLabel, validateSubdomain } from '../validation/validate-text.ts';

/** The claim that a generic ephemeral volume makes. */
export function validateClaimTemplate(
  template: PersistentVolumeClaimTemplate | undefined,
  at: FieldPath,
  faults: Faults,
): void {
  if (!template) return faults.required(at);
  const { metadata = {}, spec } = template;
  const place = at.child('metadata');
  faults.addAll(validateAnnotations(metadata.annotations ?? {}, place.child('annotations').toString()));
  validateLabelsAt(metadata.labels, place.child('labels'), faults);
  for (const [key, value] of Object.entries(metadata)) {
    // Times are values in Go, which are there even where they are not set.
    if (key === 'labels' || key === 'annotations' || value === null || value === '' || value === 0) continue;
    faults.forbidden(place.child(key), 'cannot be set');
  }
  validateClaimSpec(spec, at.child('spec'), faults);
}

const ACCESS_MODES = ['ReadOnlyMany', 'ReadWriteMany', 'ReadWriteOnce', 'ReadWriteOncePod'];

/** `ValidatePersistentVolumeClaimSpec`. */
export function validateClaimSpec(spec: PersistentVolumeClaimSpec | undefined, at: FieldPath, faults: Faults): void {
  const { accessModes = [], selector, resources, storageClassName, volumeMode } = spec ?? {};
  const modes = at.child('accessModes');
  if (accessModes.length === 0) faults.required(modes, 'at least 1 access mode is required');
  validateLabelSelector(selector, at.child('selector'), faults);
  for (const mode of accessModes) validateChoice(mode, ACCESS_MODES, modes, faults);
  if (accessModes.includes('ReadWriteOncePod')) {
    const others = accessModes.some((mode) => mode !== 'ReadWriteOncePod' && ACCESS_MODES.includes(mode));
    if (others) faults.forbidden(modes, 'may not use ReadWriteOncePod with other access modes');
  }
  const storage = resources?.requests?.storage;
  const place = at.child('resources').key('storage');
  if (storage === undefined) faults.required(place);
  else if (parseQuantity(storage).nanos <= 0n) faults.invalid(place, String(storage), 'must be greater than zero');
  else validateQuantity('storage', storage, place, faults);
  if (storageClassName) validateSubdomain(storageClassName, at.child('storageClassName'), faults);
  validateChoice(volumeMode, ['Block', 'Filesystem'], at.child('volumeMode'), faults);
  validateSources(spec ?? {}, at, faults);
  const attributes = spec?.volumeAttributesClassName;
  if (attributes) validateSubdomain(attributes, at.child('volumeAttributesClassName'), faults);
}

function validateSources(
  { dataSource, dataSourceRef }: PersistentVolumeClaimSpec,
  at: FieldPath,
  faults: Faults,
): void {
  if (dataSource) validateSource(dataSource, at.child('dataSource'), faults);
  if (!dataSourceRef) return;
  validateSource(dataSourceRef, at.child('dataSourceRef'), faults);
  const { namespace } = dataSourceRef;
  if (namespace) validateDnsLabel(namespace, at.child('dataSourceRef').child('namespace'), faults);
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

function validateSource(
  { apiGroup, kind = '', name }: { apiGroup?: string | null; kind?: string; name?: string },
  at: FieldPath,
  faults: Faults,
): void {
  if (!name) faults.required(at.child('name'));
  if (kind === '') faults.required(at.child('kind'));
  if (!apiGroup && kind !== 'PersistentVolumeClaim') {
    faults.invalid(at, kind, "must be 'PersistentVolumeClaim' when referencing the default apiGroup");
  }
  if (apiGroup) validateSubdomain(apiGroup, at.child('apiGroup'), faults);
}
