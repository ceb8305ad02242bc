import {
  type AWSElasticBlockStoreVolumeSource,
  type AzureDiskVolumeSource,
  type CinderVolumeSource,
  type ConfigMapVolumeSource,
  type CSIVolumeSource,
  type DownwardAPIVolumeFile,
  type DownwardAPIVolumeSource,
  type FCVolumeSource,
  type FlexVolumeSource,
  type FlockerVolumeSource,
  type GCEPersistentDiskVolumeSource,
  type GitRepoVolumeSource,
  type GlusterfsVolumeSource,
  type HostPathVolumeSource,
  type ISCSIVolumeSource,
  type KeyToPath,
  type NFSVolumeSource,
  type QuobyteVolumeSource,
  type RBDVolumeSource,
  type SecretVolumeSource,
  type StorageOSVolumeSource,
  validateDns1123Subdomain,
  type Volume,
} from '@asterism/machinery';
import type { Faults } from '../validation/faults.ts';
import type { FieldPath } from '../validation/field-path.ts';
import { validateFieldRef, validateResourceFieldRef } from './validate-environment.ts';
import { validateChoice, validateDnsLabel } from '../validation/validate-text.ts';
import {
  validateDescendingPath,
  validateFileMode,
  validateNoBacksteps,
  validateUnreservedPath,
} from '../validation/paths-within.ts';

type ValidateSource = (source: object, at: FieldPath, faults: Faults) => void;

/** A source of which nothing is asked but that these texts are there. */
export function requireFields(...keys: string[]): ValidateSource {
  return (source, at, faults) => {
    for (const key of keys) if (!(source as Record<string, unknown>)[key]) faults.required(at.child(key));
  };
}

/** The same for lists. */
export function requireLists(...keys: string[]): ValidateSource {
  return (source, at, faults) => {
    for (const key of keys) {
      const list = (source as Record<string, unknown>)[key];
      if (!Array.isArray(list) || list.length === 0) faults.required(at.child(key));
    }
  };
}

const HOST_PATH_TYPES = [
  '',
  'BlockDevice',
  'CharDevice',
  'Directory',
  'DirectoryOrCreate',
  'File',
  'FileOrCreate',
  'Socket',
];

export function validateHostPath({ path, type }: HostPathVolumeSource, at: FieldPath, faults: Faults): void {
  if (!path) return faults.required(at.child('path'));
  validateNoBacksteps(path, at.child('path'), faults);
  validateChoice(type, HOST_PATH_TYPES, at.child('type'), faults);
}

export function validateGitRepo({ repository, directory }: GitRepoVolumeSource, at: FieldPath, faults: Faults): void {
  if (!repository) faults.required(at.child('repository'));
  validateDescendingPath(directory ?? '', at.child('directory'), faults);
}

const BYTE_RANGE = 'must be between 0 and 255, inclusive';

function validateByte(value: number | undefined, at: FieldPath, faults: Faults): void {
  if (value !== undefined && (value < 0 || value > 255)) faults.invalid(at, value, BYTE_RANGE);
}

export function validateGcePersistentDisk(
  { pdName, partition }: GCEPersistentDiskVolumeSource,
  at: FieldPath,
  faults: Faults,
): void {
  if (!pdName) faults.required(at.child('pdName'));
  validateByte(partition, at.child('partition'), faults);
}

export function validateAwsElasticBlockStore(
  { volumeID, partition }: AWSElasticBlockStoreVolumeSource,
  at: FieldPath,
  faults: Faults,
): void {
  if (!volumeID) faults.required(at.child('volumeID'));
  validateByte(partition, at.child('partition'), faults);
}

export function validateSecret(
  { secretName, defaultMode, items }: SecretVolumeSource,
  at: FieldPath,
  faults: Faults,
): void {
  if (!secretName) faults.required(at.child('secretName'));
  validateFileMode(defaultMode, at.child('defaultMode'), faults);
  for (const [index, item] of (items ?? []).entries()) validateKeyToPath(item, at.child('items').index(index), faults);
}

export function validateConfigMap(
  { name, defaultMode, items }: ConfigMapVolumeSource,
  at: FieldPath,
  faults: Faults,
): void {
  if (!name) faults.required(at.child('name'));
  validateFileMode(defaultMode, at.child('defaultMode'), faults);
  for (const [index, item] of (items ?? []).entries()) validateKeyToPath(item, at.child('items').index(index), faults);
}

export function validateKeyToPath({ key, path, mode }: KeyToPath, at: FieldPath, faults: Faults): void {
  if (!key) faults.required(at.child('key'));
  if (path === '') faults.required(at.child('path'));
  validateUnreservedPath(path, at.child('path'), faults);
  validateFileMode(mode, at.child('mode'), faults);
}

export function validateNfs({ server, path }: NFSVolumeSource, at: FieldPath, faults: Faults): void {
  if (!server) faults.required(at.child('server'));
  if (path === '') faults.required(at.child('path'));
  if (!path.startsWith('/')) faults.invalid(at.child('path'), path, 'must be an absolute path');
}

const ISCSI_NAMES: Readonly<Record<string, (name: string) => boolean>> = {
  iqn: isIqn,
  eui: (name) => /^eui.[A-Za-z0-9]{16}$/.test(name),
  naa: (name) => /^naa.[A-Za-z0-9]{32}$/.test(name),
};

/** Upstream's `iqn\.\d{4}-\d{2}\.([[:alnum:]-.]+)(:[^,;*&$|\s]+)$`, which may match anywhere, without going back. */
function isIqn(name: string): boolean {
  for (const { 0: authority, index } of name.matchAll(/[A-Za-z0-9.-]+/g)) {
    const end = index + authority.length;
    if (name[end] !== ':' || !/iqn\.\d{4}-\d{2}\.[A-Za-z0-9.-]/.test(authority)) continue;
    const forbidden = name.slice(end + 1).search(/[,;*&$|\s]/);
    // A colon further right can only be followed by less.
    if (forbidden < 0) return end + 1 < name.length;
  }
  return false;
}

function iscsiNameFault(name: string): string | undefined {
  const isValid = ISCSI_NAMES[name.slice(0, 3)];
  if (!isValid) return 'must be valid format starting with iqn, eui, or naa';
  return isValid(name) ? undefined : 'must be valid format';
}

export function validateIscsi(source: ISCSIVolumeSource, at: FieldPath, faults: Faults): void {
  const { targetPortal, iqn, lun, chapAuthDiscovery, chapAuthSession, secretRef, initiatorName } = source;
  if (!targetPortal) faults.required(at.child('targetPortal'));
  const wrong = iqn ? iscsiNameFault(iqn) : undefined;
  if (!iqn) faults.required(at.child('iqn'));
  else if (wrong) faults.invalid(at.child('iqn'), iqn, wrong);
  validateByte(lun, at.child('lun'), faults);
  if ((chapAuthDiscovery || chapAuthSession) && !secretRef) faults.required(at.child('secretRef'));
  const initiator = initiatorName === undefined ? undefined : iscsiNameFault(initiatorName);
  if (initiator) faults.invalid(at.child('initiatorname'), initiatorName, initiator);
}

/** The name of the volume stands in that of the interface where there is an initiator. */
export function validateIscsiName({ name, iscsi }: Volume, at: FieldPath, faults: Faults): void {
  if (iscsi?.initiatorName === undefined || `${name}:${iscsi.targetPortal}`.length <= 64) return;
  const detail =
    'Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters if iscsi.initiatorName is specified.';
  faults.invalid(at.child('name'), name, detail);
}

export function validateGlusterfs({ endpoints, path }: GlusterfsVolumeSource, at: FieldPath, faults: Faults): void {
  if (!endpoints) faults.required(at.child('endpoints'));
  if (!path) faults.required(at.child('path'));
}

export function validateFlocker(
  { datasetName = '', datasetUUID = '' }: FlockerVolumeSource,
  at: FieldPath,
  faults: Faults,
): void {
  if (datasetName === '' && datasetUUID === '') {
    faults.required(at, 'one of datasetName and datasetUUID is required');
  }
  if (datasetName !== '' && datasetUUID !== '') {
    faults.invalid(at, 'resource', 'datasetName and datasetUUID can not be specified simultaneously');
  }
  if (datasetName.includes('/')) faults.invalid(at.child('datasetName'), datasetName, "must not contain '/'");
}

export function validateRbd({ monitors, image }: RBDVolumeSource, at: FieldPath, faults: Faults): void {
  if (!monitors?.length) faults.required(at.child('monitors'));
  if (!image) faults.required(at.child('image'));
}

export function validateCinder({ volumeID, secretRef }: CinderVolumeSource, at: FieldPath, faults: Faults): void {
  if (!volumeID) faults.required(at.child('volumeID'));
  if (secretRef && !secretRef.name) faults.required(at.child('secretRef').child('name'));
}

const HOSTS_AND_PORTS = 'must be a host:port pair or multiple pairs separated by commas';

export function validateQuobyte(
  { registry, tenant = '', volume }: QuobyteVolumeSource,
  at: FieldPath,
  faults: Faults,
): void {
  if (registry === '') faults.required(at.child('registry'), HOSTS_AND_PORTS);
  else if (tenant.length >= 65) {
    faults.required(at.child('tenant'), 'must be a UUID and may not exceed a length of 64 characters');
  } else {
    for (const pair of registry.split(',')) {
      if (!/^([^:[\]]*|\[[^[\]]*\]):[^:[\]]*$/.test(pair))
        faults.invalid(at.child('registry'), registry, HOSTS_AND_PORTS);
    }
  }
  if (!volume) faults.required(at.child('volume'));
}

const VOLUME_FIELDS = [
  'metadata.annotations',
  'metadata.labels',
  'metadata.name',
  'metadata.namespace',
  'metadata.uid',
];

/** Upstream names the source and not its item. */
export function validateDownwardApi(
  { defaultMode, items }: DownwardAPIVolumeSource,
  at: FieldPath,
  faults: Faults,
): void {
  validateFileMode(defaultMode, at.child('defaultMode'), faults);
  for (const item of items ?? []) validateDownwardFile(item, at, faults);
}

export function validateDownwardFile(
  { path, fieldRef, resourceFieldRef, mode }: DownwardAPIVolumeFile,
  at: FieldPath,
  faults: Faults,
): void {
  if (path === '') faults.required(at.child('path'));
  validateUnreservedPath(path, at.child('path'), faults);
  if (fieldRef) {
    validateFieldRef(fieldRef, VOLUME_FIELDS, at.child('fieldRef'), faults);
    if (resourceFieldRef) {
      faults.invalid(at, 'resource', 'fieldRef and resourceFieldRef can not be specified simultaneously');
    }
  } else if (resourceFieldRef) validateResourceFieldRef(resourceFieldRef, true, at.child('resourceFieldRef'), faults);
  else faults.required(at, 'one of fieldRef and resourceFieldRef is required');
  validateFileMode(mode, at.child('mode'), faults);
}

export function validateFibreChannel({ targetWWNs, wwids, lun }: FCVolumeSource, at: FieldPath, faults: Faults): void {
  const place = at.child('targetWWNs');
  if (!targetWWNs?.length && !wwids?.length) {
    faults.required(place, 'must specify either targetWWNs or wwids, but not both');
  }
  if (targetWWNs?.length && wwids?.length) {
    faults.invalid(place, targetWWNs, 'targetWWNs and wwids can not be specified simultaneously');
  }
  if (!targetWWNs?.length) return;
  if (lun === undefined) faults.required(at.child('lun'), 'lun is required if targetWWNs is specified');
  else validateByte(lun, at.child('lun'), faults);
}

export function validateFlexVolume({ driver, options }: FlexVolumeSource, at: FieldPath, faults: Faults): void {
  if (!driver) faults.required(at.child('driver'));
  for (const key of Object.keys(options ?? {})) {
    const domain = `.${(key.includes('/') ? key.slice(0, key.indexOf('/')) : key).toLowerCase()}`;
    if (!domain.endsWith('.kubernetes.io') && !domain.endsWith('.k8s.io')) continue;
    faults.invalid(at.child('options').key(key), key, 'kubernetes.io and k8s.io namespaces are reserved');
  }
}

const CACHING_MODES = ['None', 'ReadOnly', 'ReadWrite'];
const DISK_KINDS = ['Dedicated', 'Managed', 'Shared'];
const MANAGED_DISK = '/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/{disk-id}';
const BLOB_DISK = 'https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd';

export function validateAzureDisk(source: AzureDiskVolumeSource, at: FieldPath, faults: Faults): void {
  const { diskName, diskURI, cachingMode, kind } = source;
  const place = at.child('diskURI');
  if (!diskName) faults.required(at.child('diskName'));
  if (diskURI === '') faults.required(place);
  validateChoice(cachingMode, CACHING_MODES, at.child('cachingMode'), faults);
  validateChoice(kind, DISK_KINDS, at.child('kind'), faults);
  if (kind === 'Managed') {
    if (!diskURI.startsWith('/subscriptions/')) faults.notSupported(place, diskURI, [MANAGED_DISK]);
  } else if (kind !== undefined && !diskURI.startsWith('https://')) faults.notSupported(place, diskURI, [BLOB_DISK]);
}

export function validateStorageOs(source: StorageOSVolumeSource, at: FieldPath, faults: Faults): void {
  const { volumeName, volumeNamespace, secretRef } = source;
  if (!volumeName) faults.required(at.child('volumeName'));
  else validateDnsLabel(volumeName, at.child('volumeName'), faults);
  if (volumeNamespace) validateDnsLabel(volumeNamespace, at.child('volumeNamespace'), faults);
  if (secretRef && !secretRef.name) faults.required(at.child('secretRef').child('name'));
}

export function validateCsi({ driver, nodePublishSecretRef }: CSIVolumeSource, at: FieldPath, faults: Faults): void {
  const place = at.child('driver');
  if (driver === '') faults.required(place);
  else {
    if (driver.length > 63) faults.tooLong(place, 63);
    faults.invalidEach(place, driver, validateDns1123Subdomain(driver.toLowerCase()));
  }
  if (!nodePublishSecretRef) return;
  const { name } = nodePublishSecretRef;
  // Upstream's names of the fields.
  if (!name) faults.required(at.child('nodePublishSecretRef ').child('name'));
  else faults.invalidEach(at.child('name'), name, validateDns1123Subdomain(name));
}
