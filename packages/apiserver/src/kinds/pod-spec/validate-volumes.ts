import { parseQuantity, validateDns1123Subdomain, type Volume } from '@asterism/machinery';
import { Faults } from '../validation/faults.ts';
import type { FieldPath } from '../validation/field-path.ts';
import { validateProjection } from './validate-projection.ts';
import { validateDnsLabel, validateRequiredChoice } from '../validation/validate-text.ts';
import { validateClaimTemplate } from './validate-volume-claim.ts';
import * as sources from './volume-sources.ts';

/** How one kind of source is checked; `place` where upstream's message names another field than the source's own. */
interface SourceRule {
  key: keyof Volume;
  validate(source: never, at: FieldPath, faults: Faults): void;
  /** The name of the source in messages about what is in it. */
  place?: string;
  /** The name of the source in the message that there is more than one. */
  second?: string;
}

/** In the order in which upstream looks for them. */
const SOURCES: readonly SourceRule[] = [
  { key: 'hostPath', validate: sources.validateHostPath },
  { key: 'gitRepo', validate: sources.validateGitRepo },
  { key: 'gcePersistentDisk', validate: sources.validateGcePersistentDisk, place: 'persistentDisk' },
  { key: 'awsElasticBlockStore', validate: sources.validateAwsElasticBlockStore },
  { key: 'secret', validate: sources.validateSecret },
  { key: 'nfs', validate: sources.validateNfs },
  { key: 'iscsi', validate: sources.validateIscsi },
  { key: 'glusterfs', validate: sources.validateGlusterfs },
  { key: 'flocker', validate: sources.validateFlocker },
  { key: 'persistentVolumeClaim', validate: sources.requireFields('claimName') },
  { key: 'rbd', validate: sources.validateRbd },
  { key: 'cinder', validate: sources.validateCinder },
  { key: 'cephfs', validate: sources.requireLists('monitors'), second: 'cephFS' },
  { key: 'quobyte', validate: sources.validateQuobyte },
  { key: 'downwardAPI', validate: sources.validateDownwardApi, second: 'downwarAPI' },
  { key: 'fc', validate: sources.validateFibreChannel },
  { key: 'flexVolume', validate: sources.validateFlexVolume },
  { key: 'configMap', validate: sources.validateConfigMap },
  { key: 'azureFile', validate: sources.requireFields('secretName', 'shareName') },
  { key: 'vsphereVolume', validate: sources.requireFields('volumePath') },
  { key: 'photonPersistentDisk', validate: sources.requireFields('pdID') },
  { key: 'portworxVolume', validate: sources.requireFields('volumeID') },
  { key: 'azureDisk', validate: sources.validateAzureDisk },
  { key: 'storageos', validate: sources.validateStorageOs },
  { key: 'projected', validate: validateProjection },
  { key: 'scaleIO', validate: sources.requireFields('gateway', 'system', 'volumeName') },
  { key: 'csi', validate: sources.validateCsi },
];

const MORE_THAN_ONE = 'may not specify more than 1 volume type';
const PULL_POLICIES = ['Always', 'IfNotPresent', 'Never'];

/**
 * The volumes of a pod, and those of them without faults by name: a mount of another one is told that there is none.
 *
 * @param podName of a pod itself, whose name its generated claims bear; undefined for a template.
 */
export function validateVolumes(
  volumes: readonly Volume[],
  at: FieldPath,
  podName: string | undefined,
  faults: Faults,
): ReadonlyMap<string, Volume> {
  const sound = new Map<string, Volume>();
  const generated = new Set(
    volumes.filter(({ ephemeral }) => podName && ephemeral).map(({ name }) => `${podName}-${name}`),
  );
  for (const [index, volume] of volumes.entries()) {
    const place = at.index(index);
    const own = new Faults();
    validateVolumeSource(volume, place, podName, own);
    const { name, persistentVolumeClaim: claim } = volume;
    if (name === '') own.required(place.child('name'));
    else validateDnsLabel(name, place.child('name'), own);
    if (sound.has(name)) own.duplicate(place.child('name'), name);
    if (own.found.length === 0) sound.set(name, volume);
    else faults.addAll(own.found);
    if (claim && generated.has(claim.claimName)) {
      const detail = 'must not reference a PVC that gets created for an ephemeral volume';
      faults.invalid(place.child('persistentVolumeClaim').child('claimName'), claim.claimName, detail);
    }
  }
  return sound;
}

function validateVolumeSource(volume: Volume, at: FieldPath, podName: string | undefined, faults: Faults): void {
  const { emptyDir, ephemeral, image, name } = volume;
  let count = 0;
  if (emptyDir) {
    count += 1;
    const { sizeLimit } = emptyDir;
    if (sizeLimit !== undefined && parseQuantity(sizeLimit).nanos < 0n) {
      faults.forbidden(at.child('emptyDir').child('sizeLimit'), 'SizeLimit field must be a valid resource quantity');
    }
  }
  const isFirst = (key: string): boolean => {
    count += 1;
    if (count > 1) faults.forbidden(at.child(key), MORE_THAN_ONE);
    return count === 1;
  };
  // Most volumes have their source among the first keys, so that it is the volume that is walked and not the table.
  const keys = Object.keys(volume);
  for (const rule of SOURCES) {
    const { key, validate, place, second } = rule;
    if (!keys.includes(key)) continue;
    if (isFirst(second ?? key)) validate(volume[key] as never, at.child(place ?? key), faults);
    if (key === 'iscsi') sources.validateIscsiName(volume, at, faults);
  }
  if (ephemeral && isFirst('ephemeral')) {
    validateClaimTemplate(ephemeral.volumeClaimTemplate, at.child('ephemeral').child('volumeClaimTemplate'), faults);
    if (podName && name !== '') {
      const claim = `${podName}-${name}`;
      for (const fault of validateDns1123Subdomain(claim)) {
        faults.invalid(at.child('name'), name, `PVC name ${JSON.stringify(claim)}: ${fault}`);
      }
    }
  }
  if (image && isFirst('image')) {
    if (!image.reference) faults.required(at.child('image').child('reference'));
    validateRequiredChoice(image.pullPolicy, PULL_POLICIES, at.child('image').child('pullPolicy'), faults);
  }
  if (count === 0) faults.required(at, 'must specify a volume type');
}
