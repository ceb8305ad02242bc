import type { Container, Volume, VolumeMount } from '@asterism/machinery';
import type { Faults } from '../validation/faults.ts';
import type { FieldPath } from '../validation/field-path.ts';
import { validateChoice } from '../validation/validate-text.ts';
import { validateDescendingPath, hasBackstep } from '../validation/paths-within.ts';

const PROPAGATIONS = ['Bidirectional', 'HostToContainer', 'None'];

/** What a container mounts (`volumes` are the pod's, without those that have faults themselves). */
export function validateMounts(
  container: Container,
  volumes: ReadonlyMap<string, Volume>,
  at: FieldPath,
  faults: Faults,
): void {
  const { volumeMounts = [], volumeDevices = [] } = container;
  if (volumeMounts.length > 0) {
    const devices = new Map(volumeDevices.map(({ name, devicePath }) => [name, devicePath]));
    const place = at.child('volumeMounts');
    const taken = new Set<string>();
    const devicePaths = new Set(devices.values());
    for (const [index, mount] of volumeMounts.entries()) {
      const { name, mountPath } = mount;
      if (name === '') faults.required(place.index(index).child('name'));
      if (!volumes.has(name)) faults.notFound(place.index(index).child('name'), name);
      if (mountPath === '') faults.required(place.index(index).child('mountPath'));
      if (taken.has(mountPath)) faults.invalid(place.index(index).child('mountPath'), mountPath, 'must be unique');
      taken.add(mountPath);
      if (devices.has(name)) {
        faults.invalid(place.index(index).child('name'), name, 'must not already exist in volumeDevices');
      }
      if (devicePaths.has(mountPath)) {
        const detail = 'must not already exist as a path in volumeDevices';
        faults.invalid(place.index(index).child('mountPath'), mountPath, detail);
      }
      validateMountOptions(mount, container, { list: place, item: place.index(index) }, faults);
    }
  }
  if (volumeDevices.length > 0) validateDevices(container, volumes, at.child('volumeDevices'), faults);
}

/** Upstream names the list where it means one of its items; only one message is of the item. */
function validateMountOptions(
  { subPath = '', subPathExpr = '', mountPropagation, recursiveReadOnly, readOnly }: VolumeMount,
  container: Container,
  { list, item }: { list: FieldPath; item: FieldPath },
  faults: Faults,
): void {
  if (subPath !== '') validateDescendingPath(subPath, list.child('subPath'), faults);
  if (subPathExpr !== '') {
    if (subPath !== '') {
      faults.invalid(item.child('subPathExpr'), subPathExpr, 'subPathExpr and subPath are mutually exclusive');
    }
    validateDescendingPath(subPathExpr, list.child('subPathExpr'), faults);
  }
  if (mountPropagation !== undefined) {
    const at = list.child('mountPropagation');
    validateChoice(mountPropagation, PROPAGATIONS, at, faults);
    if (mountPropagation === 'Bidirectional' && container.securityContext?.privileged !== true) {
      faults.forbidden(at, 'Bidirectional mount propagation is available only to privileged containers');
    }
  }
  if (recursiveReadOnly === undefined || recursiveReadOnly === 'Disabled') return;
  const at = list.child('recursiveReadOnly');
  if (recursiveReadOnly !== 'Enabled' && recursiveReadOnly !== 'IfPossible') {
    return faults.notSupported(at, recursiveReadOnly, ['Disabled', 'Enabled', 'IfPossible']);
  }
  if (!readOnly) faults.forbidden(at, 'may only be specified when readOnly is true');
  if (mountPropagation !== undefined && mountPropagation !== 'None') {
    faults.forbidden(at, 'may only be specified when mountPropagation is None or not specified');
  }
}

function validateDevices(
  { volumeMounts = [], volumeDevices = [] }: Container,
  volumes: ReadonlyMap<string, Volume>,
  at: FieldPath,
  faults: Faults,
): void {
  const mounts = new Map(volumeMounts.map(({ name, mountPath }) => [name, mountPath]));
  const mountPaths = new Set(mounts.values());
  const names = new Set<string>();
  const paths = new Set<string>();
  for (const [index, { name = '', devicePath = '' }] of volumeDevices.entries()) {
    const volume = volumes.get(name);
    const namePlace = at.index(index).child('name');
    const pathPlace = at.index(index).child('devicePath');
    if (name === '') faults.required(namePlace);
    if (names.has(name)) faults.invalid(namePlace, name, 'must be unique');
    if (!volume) faults.notFound(namePlace, name);
    else if (!volume.persistentVolumeClaim && !volume.ephemeral) {
      const detail = 'can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode';
      faults.invalid(namePlace, name, detail);
    }
    if (devicePath === '') faults.required(pathPlace);
    if (paths.has(devicePath)) faults.invalid(pathPlace, devicePath, 'must be unique');
    if (hasBackstep(devicePath)) faults.invalid(pathPlace, devicePath, "can not contain backsteps ('..')");
    else paths.add(devicePath);
    if (mounts.has(name)) faults.invalid(namePlace, name, 'must not already exist in volumeMounts');
    if (mountPaths.has(devicePath)) {
      faults.invalid(pathPlace, devicePath, 'must not already exist as a path in volumeMounts');
    }
    if (name !== '') names.add(name);
  }
}
