import { withoutTrailing } from '@asterism/machinery';
import type { PodSpec, Volume, VolumeProjection } from '@asterism/machinery';
import type { FieldPath } from '../validation/field-path.ts';
import { isFractional } from './validate-resources.ts';

/** What is said of a kind of volume that is on its way out, in the order in which upstream looks for them. */
const OLD_SOURCES = [
  ['photonPersistentDisk', 'deprecated in v1.11, non-functional in v1.16+'],
  ['gitRepo', 'deprecated in v1.11, and disabled by default in v1.33+'],
  ['scaleIO', 'deprecated in v1.16, non-functional in v1.22+'],
  ['flocker', 'deprecated in v1.22, non-functional in v1.25+'],
  ['storageos', 'deprecated in v1.22, non-functional in v1.25+', 'storageOS'],
  ['quobyte', 'deprecated in v1.22, non-functional in v1.25+'],
  ['glusterfs', 'deprecated in v1.25, non-functional in v1.26+'],
] as const;

const OLDER_SOURCES = [
  ['cephfs', 'deprecated in v1.28, non-functional in v1.31+'],
  ['rbd', 'deprecated in v1.28, non-functional in v1.31+'],
] as const;

export function warnVolumes({ volumes = [] }: PodSpec, at: FieldPath, warnings: string[]): void {
  for (const [index, volume] of volumes.entries()) {
    const place = (): FieldPath => at.child('volumes').index(index);
    for (const [key, message, name = key] of OLD_SOURCES) {
      if (volume[key]) warnings.push(`${place().child(name).toString()}: ${message}`);
    }
    const size = volume.ephemeral?.volumeClaimTemplate?.spec?.resources?.requests?.storage;
    if (size !== undefined && isFractional(size)) {
      const spec = place().child('ephemeral').child('volumeClaimTemplate').child('spec');
      warnings.push(fractional(spec.child('resources').child('requests').key('storage'), size));
    }
    for (const [key, message] of OLDER_SOURCES)
      if (volume[key]) warnings.push(`${place().child(key).toString()}: ${message}`);
  }
  for (const volume of volumes) warnOverlaps(volume, warnings);
}

export function fractional(at: FieldPath, amount: string | number): string {
  return `${at.toString()}: fractional byte value ${JSON.stringify(String(amount))} is invalid, must be an integer`;
}

interface File {
  path: string;
  source?: string;
}

/** Two files of one volume that cannot both be there. */
function warnOverlaps({ name, configMap, secret, downwardAPI, projected }: Volume, warnings: string[]): void {
  const warn = (what: string, files: readonly File[]): void => {
    for (const [index, file] of files.entries()) {
      for (const other of files.slice(0, index)) {
        if (!overlap(file.path, other.path)) continue;
        warnings.push(`volume "${name}" (${what}): overlapping paths: ${nameOf(file)} with ${nameOf(other)}`);
      }
    }
  };
  if (configMap?.items) warn(`ConfigMap ${JSON.stringify(configMap.name ?? '')}`, filesOf(configMap.items));
  if (secret?.items) warn(`Secret ${JSON.stringify(secret.secretName ?? '')}`, filesOf(secret.items));
  if (downwardAPI?.items) warn('DownwardAPI', filesOf(downwardAPI.items));
  if (!projected) return;
  for (const source of projected.sources ?? []) {
    if (Object.keys(source).length === 0) warnings.push(`volume "${name}" (Projected) has no sources provided`);
  }
  warn('Projected', (projected.sources ?? []).flatMap(filesOfProjection));
}

function filesOf(items: readonly { path?: string }[], source?: string): File[] {
  return items.map(({ path = '' }) => ({
    path: withoutTrailing(path, '/'),
    ...(source === undefined ? {} : { source }),
  }));
}

function filesOfProjection(projection: VolumeProjection): File[] {
  const { configMap, secret, downwardAPI, serviceAccountToken, clusterTrustBundle } = projection;
  if (configMap?.items) return filesOf(configMap.items, `ConfigMap ${JSON.stringify(configMap.name ?? '')}`);
  if (secret?.items) return filesOf(secret.items, `Secret ${JSON.stringify(secret.name ?? '')}`);
  if (downwardAPI?.items) return filesOf(downwardAPI.items, 'DownwardAPI');
  if (serviceAccountToken) return filesOf([serviceAccountToken], 'ServiceAccountToken');
  if (!clusterTrustBundle) return [];
  const name = clusterTrustBundle.name ?? clusterTrustBundle.signerName ?? '';
  return filesOf([clusterTrustBundle], `ClusterTrustBundle ${JSON.stringify(name)}`);
}

function overlap(a: string, b: string): boolean {
  if (a === '' || b === '') return false;
  return `${a}/`.startsWith(`${b}/`) || `${b}/`.startsWith(`${a}/`);
}

function nameOf({ path, source }: File): string {
  return source === undefined ? JSON.stringify(path) : `${JSON.stringify(path)} (${source})`;
}
