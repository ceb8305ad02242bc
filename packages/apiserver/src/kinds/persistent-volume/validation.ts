import { parseQuantity, type NodeSelector, validateDns1123Subdomain } from '@asterism/machinery';
import { type Fields, listAt, optionalFields, textAt, textsAt } from '../fields/draft-fields.ts';
import type { Faults } from '../validation/faults.ts';
import type { FieldPath } from '../validation/field-path.ts';
import { validateNodeSelector } from '../pod-spec/validate-affinity.ts';
import { validateChoice, validateDnsLabel, validateSubdomain } from '../validation/validate-text.ts';
import { validateNoBacksteps } from '../validation/paths-within.ts';
import * as sources from '../pod-spec/volume-sources.ts';

export interface VolumeRules {
  name: string;
  /** Of a volume within a VolumeAttachment, which is not bound to anything. */
  inline: boolean;
  faults: Faults;
}

/** Of any source: which one it is, the table says. */
type ValidateSource = (source: never, at: FieldPath, faults: Faults) => void;

const ACCESS_MODES = ['ReadOnlyMany', 'ReadWriteMany', 'ReadWriteOnce', 'ReadWriteOncePod'];
const RECLAIM_POLICIES = ['Delete', 'Recycle', 'Retain'];
const MORE_THAN_ONE = 'may not specify more than 1 volume type';

/** Where a source stands, and under which name upstream speaks of it. */
const SOURCES: readonly { key: string; place?: string; second?: string; validate: ValidateSource }[] = [
  { key: 'hostPath', validate: sources.validateHostPath },
  { key: 'gcePersistentDisk', place: 'persistentDisk', validate: sources.validateGcePersistentDisk },
  { key: 'awsElasticBlockStore', validate: sources.validateAwsElasticBlockStore },
  { key: 'glusterfs', validate: validateGlusterfs },
  { key: 'flocker', validate: sources.validateFlocker },
  { key: 'nfs', validate: sources.validateNfs },
  { key: 'rbd', validate: sources.validateRbd },
  { key: 'quobyte', validate: sources.validateQuobyte },
  { key: 'cephfs', second: 'cephFS', validate: sources.requireLists('monitors') },
  { key: 'iscsi', validate: validateIscsi },
  { key: 'cinder', validate: validateCinder },
  { key: 'fc', validate: sources.validateFibreChannel },
  { key: 'flexVolume', validate: sources.validateFlexVolume },
  { key: 'azureFile', validate: validateAzureFile },
  { key: 'vsphereVolume', validate: sources.requireFields('volumePath') },
  { key: 'photonPersistentDisk', validate: sources.requireFields('pdID') },
  { key: 'portworxVolume', validate: sources.requireFields('volumeID') },
  { key: 'azureDisk', validate: sources.validateAzureDisk },
  { key: 'scaleIO', validate: sources.requireFields('gateway', 'system', 'volumeName') },
  { key: 'local', validate: validateLocal },
  { key: 'storageos', validate: validateStorageOs },
  { key: 'csi', validate: validateCsi },
];

/** `ValidatePersistentVolumeSpec`. */
export function validatePersistentVolumeSpec(spec: Fields, at: FieldPath, rules: VolumeRules): void {
  const { faults, inline } = rules;
  if (inline) validateInline(spec, at, faults);
  validateAccessModes(textsAt(spec, 'accessModes'), at.child('accessModes'), faults);
  if (!inline) validateCapacity(optionalFields(spec, 'capacity') ?? {}, at.child('capacity'), faults);
  const policy = textAt(spec, 'persistentVolumeReclaimPolicy');
  const policyAt = at.child('persistentVolumeReclaimPolicy');
  if (inline && policy !== '' && policy !== 'Retain')
    faults.forbidden(policyAt, 'may only be Retain in the context of inline volumes');
  if (!inline && policy !== '') validateChoice(policy, RECLAIM_POLICIES, policyAt, faults);
  const affinity = optionalFields(spec, 'nodeAffinity');
  if (affinity && inline)
    faults.forbidden(at.child('nodeAffinity'), 'may not be specified in the context of inline volumes');
  else if (affinity) validateNodeAffinity(affinity, at.child('nodeAffinity'), faults);
  validateSources(spec, at, rules);
  const hostPath = optionalFields(spec, 'hostPath');
  if (hostPath && /^\/+(\.\/*)*$/.test(textAt(hostPath, 'path')) && policy === 'Recycle')
    faults.forbidden(policyAt, "may not be 'recycle' for a hostPath mount of '/'");
  validateClasses(spec, at, rules);
}

function validateInline(spec: Fields, at: FieldPath, faults: Faults): void {
  const detail = 'may not be specified in the context of inline volumes';
  if (spec.claimRef !== undefined) faults.forbidden(at.child('claimRef'), detail);
  if (Object.keys(optionalFields(spec, 'capacity') ?? {}).length > 0) faults.forbidden(at.child('capacity'), detail);
  if (spec.csi === undefined) faults.required(at.child('csi'), 'has to be specified in the context of inline volumes');
}

function validateAccessModes(modes: readonly string[], at: FieldPath, faults: Faults): void {
  if (modes.length === 0) faults.required(at);
  for (const mode of modes) validateChoice(mode, ACCESS_MODES, at, faults);
  const others = modes.some((mode) => mode !== 'ReadWriteOncePod' && ACCESS_MODES.includes(mode));
  if (modes.includes('ReadWriteOncePod') && others)
    faults.forbidden(at, 'may not use ReadWriteOncePod with other access modes');
}

function validateCapacity(capacity: Fields, at: FieldPath, faults: Faults): void {
  const names = Object.keys(capacity);
  if (names.length === 0) faults.required(at);
  if (capacity.storage === undefined || names.length > 1)
    faults.notSupported(at, names.length > 0 ? capacity : null, ['storage']);
  for (const name of names.sort()) {
    const { nanos } = parseQuantity(String(capacity[name]));
    if (nanos <= -1_000_000_000n)
      faults.invalid(at.key(name), Number(nanos / 1_000_000_000n), 'must be a valid resource quantity');
    if (nanos <= 0n) faults.invalid(at.key(name), String(capacity[name]), 'must be greater than zero');
  }
}

function validateNodeAffinity(affinity: Fields, at: FieldPath, faults: Faults): void {
  const selector = optionalFields(affinity, 'required');
  if (!selector) faults.required(at.child('required'), 'must specify required node constraints');
  else validateNodeSelector(selector as Partial<NodeSelector>, at.child('required'), faults);
}

function validateSources(spec: Fields, at: FieldPath, { name, faults }: VolumeRules): void {
  let count = 0;
  for (const { key, place, second, validate } of SOURCES) {
    const source = optionalFields(spec, key);
    if (!source) continue;
    // A flexVolume is let pass as a second one.
    if (count > 0 && key !== 'flexVolume') {
      faults.forbidden(at.child(second ?? key), MORE_THAN_ONE);
      continue;
    }
    count += 1;
    validate(source as never, at.child(place ?? key), faults);
    if (key === 'iscsi' && source.initiatorName !== undefined && name.length > 64)
      faults.invalid(
        at.child('iscsi').child('name'),
        name,
        'Total length of <initiatorName>:<volume.name> must be under 224 characters if iscsi.initiatorName is specified.',
      );
    if (key === 'local' && !optionalFields(optionalFields(spec, 'nodeAffinity'), 'required'))
      faults.required(at.child('nodeAffinity'), 'Local volume requires node affinity');
  }
  if (count === 0) faults.required(at, 'must specify a volume type');
}

function validateClasses(spec: Fields, at: FieldPath, { faults, inline }: VolumeRules): void {
  const className = textAt(spec, 'storageClassName');
  if (className !== '' && inline)
    faults.forbidden(at.child('storageClassName'), 'may not be specified in the context of inline volumes');
  else if (className !== '') validateSubdomain(className, at.child('storageClassName'), faults);
  const { volumeMode, volumeAttributesClassName: attributes } = spec;
  const detail = 'may not specify volumeMode other than Filesystem in the context of inline volumes';
  if (inline && volumeMode !== undefined && volumeMode !== 'Filesystem')
    faults.forbidden(at.child('volumeMode'), detail);
  if (!inline)
    validateChoice(volumeMode as string | undefined, ['Block', 'Filesystem'], at.child('volumeMode'), faults);
  if (typeof attributes !== 'string') return;
  const place = at.child('volumeAttributesClassName');
  if (attributes === '') faults.required(place, 'an empty string is disallowed');
  else validateSubdomain(attributes, place, faults);
  if (spec.csi === undefined)
    faults.required(at.child('csi'), 'has to be specified when using volumeAttributesClassName');
}

function validateGlusterfs(source: Fields, at: FieldPath, faults: Faults): void {
  sources.requireFields('endpoints', 'path')(source, at, faults);
  const { endpointsNamespace } = source;
  if (typeof endpointsNamespace !== 'string') return;
  const detail = 'if the endpointnamespace is set, it must be a valid namespace name';
  if (endpointsNamespace === '') faults.invalid(at.child('endpointsNamespace'), endpointsNamespace, detail);
  else validateDnsLabel(endpointsNamespace, at.child('endpointsNamespace'), faults);
}

function validateIscsi(source: Fields, at: FieldPath, faults: Faults): void {
  sources.validateIscsi(source as never, at, faults);
}

function validateCinder(source: Fields, at: FieldPath, faults: Faults): void {
  if (textAt(source, 'volumeID') === '') faults.required(at.child('volumeID'));
  const secret = optionalFields(source, 'secretRef');
  if (!secret) return;
  for (const key of ['name', 'namespace'])
    if (textAt(secret, key) === '') faults.required(at.child('secretRef').child(key));
}

function validateAzureFile(source: Fields, at: FieldPath, faults: Faults): void {
  sources.requireFields('secretName', 'shareName')(source, at, faults);
  const { secretNamespace } = source;
  if (typeof secretNamespace !== 'string') return;
  if (secretNamespace === '') faults.required(at.child('secretNamespace'));
}

function validateLocal(source: Fields, at: FieldPath, faults: Faults): void {
  const path = textAt(source, 'path');
  if (path === '') faults.required(at.child('path'));
  else validateNoBacksteps(path, at.child('path'), faults);
}

function validateStorageOs(source: Fields, at: FieldPath, faults: Faults): void {
  sources.validateStorageOs(source as never, at, faults);
  const secret = optionalFields(source, 'secretRef');
  if (secret && textAt(secret, 'namespace') === '') faults.required(at.child('secretRef').child('namespace'));
}

const CSI_SECRETS = [
  'controllerPublishSecretRef',
  'controllerExpandSecretRef',
  'nodePublishSecretRef',
  'nodeExpandSecretRef',
];

function validateCsi(source: Fields, at: FieldPath, faults: Faults): void {
  validateDriverName(textAt(source, 'driver'), at.child('driver'), faults);
  if (textAt(source, 'volumeHandle') === '') faults.required(at.child('volumeHandle'));
  for (const key of CSI_SECRETS) {
    const secret = optionalFields(source, key);
    if (!secret) continue;
    const name = textAt(secret, 'name');
    const namespace = textAt(secret, 'namespace');
    if (name === '') faults.required(at.child(key).child('name'));
    else validateSubdomain(name, at.child(key).child('name'), faults);
    if (namespace === '') faults.required(at.child(key).child('namespace'));
    else validateDnsLabel(namespace, at.child(key).child('namespace'), faults);
  }
}

/** `ValidateCSIDriverName`. */
export function validateDriverName(name: string, at: FieldPath, faults: Faults): void {
  if (name === '') faults.required(at);
  if (name.length > 63) faults.tooLong(at, 63);
  if (name !== '') faults.invalidEach(at, name, validateDns1123Subdomain(name.toLowerCase()));
}

/** The terms of a volume's `nodeAffinity`. */
export function nodeSelectorTerms(spec: Fields): Fields[] {
  return listAt(optionalFields(optionalFields(spec, 'nodeAffinity'), 'required'), 'nodeSelectorTerms');
}
