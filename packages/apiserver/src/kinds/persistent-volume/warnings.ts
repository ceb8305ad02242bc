import { type KubeObject, parseQuantity } from '@asterism/machinery';
import { nodeSelectorTerms } from './validation.ts';
import { type Fields, listAt, optionalFields, textAt } from '../fields/draft-fields.ts';
import { labelDeprecation } from '../pod-spec/deprecated-labels.ts';

const CLASS_ANNOTATION = 'volume.beta.kubernetes.io/storage-class';

/** Sources that no kubelet mounts any more. */
const GONE: Readonly<Record<string, string>> = {
  photonPersistentDisk: 'spec.photonPersistentDisk: deprecated in v1.11, non-functional in v1.16+',
  scaleIO: 'spec.scaleIO: deprecated in v1.16, non-functional in v1.22+',
  storageos: 'spec.storageos: deprecated in v1.22, non-functional in v1.25+',
  glusterfs: 'spec.glusterfs: deprecated in v1.25, non-functional in v1.26+',
  cephfs: 'spec.cephfs: deprecated in v1.28, non-functional in v1.31+',
  rbd: 'spec.rbd: deprecated in v1.28, non-functional in v1.31+',
};

/** `GetWarningsForPersistentVolume`. */
export function persistentVolumeWarnings({ metadata, spec: given }: KubeObject): string[] {
  const spec = (given ?? {}) as Fields;
  const warnings: string[] = [];
  if (metadata?.annotations?.[CLASS_ANNOTATION] !== undefined) {
    warnings.push(
      `metadata.annotations[${CLASS_ANNOTATION}]: deprecated since v1.8; use "storageClassName" attribute instead`,
    );
  }
  if (spec.persistentVolumeReclaimPolicy === 'Recycle') {
    warnings.push(
      'spec.persistentVolumeReclaimPolicy: The Recycle reclaim policy is deprecated. Instead, the recommended approach is to use dynamic provisioning.',
    );
  }
  for (const [key, text] of Object.entries(GONE)) if (optionalFields(spec, key)) warnings.push(text);
  for (const [index, term] of nodeSelectorTerms(spec).entries()) {
    for (const [at, requirement] of listAt(term, 'matchExpressions').entries()) {
      const text = labelDeprecation(textAt(requirement, 'key'));
      if (!text) continue;
      const place = `spec.nodeAffinity.required.nodeSelectorTerms[${index}].matchExpressions[${at}].key`;
      warnings.push(`${place}: ${textAt(requirement, 'key')} is ${text}`);
    }
  }
  return [...warnings, ...fractionWarnings(optionalFields(spec, 'capacity'), 'storage', 'spec.capacity')];
}

/** `GetWarningsForPersistentVolumeClaim`. */
export function persistentVolumeClaimWarnings({ metadata, spec }: KubeObject): string[] {
  const resources = optionalFields(spec as Fields | undefined, 'resources');
  const annotation =
    metadata?.annotations?.[CLASS_ANNOTATION] === undefined
      ? []
      : [`metadata.annotations[${CLASS_ANNOTATION}]: deprecated since v1.8; use "storageClassName" attribute instead`];
  return [
    ...annotation,
    ...fractionWarnings(optionalFields(resources, 'requests'), 'storage', 'spec.resources.requests'),
    ...fractionWarnings(optionalFields(resources, 'limits'), 'storage', 'spec.resources.limits'),
  ];
}

function fractionWarnings(amounts: Fields | undefined, name: string, at: string): string[] {
  const amount = amounts?.[name] as string | undefined;
  if (amount === undefined || parseQuantity(amount).nanos % 1_000_000_000n === 0n) return [];
  return [`${at}[${name}]: fractional byte value ${JSON.stringify(amount)} is invalid, must be an integer`];
}
