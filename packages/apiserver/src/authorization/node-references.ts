import type { KubeObject } from '@asterism/machinery';

type Fields = Readonly<Record<string, unknown>>;

/** Pods that a node made itself: what they refer to opens nothing. */
const MIRROR_ANNOTATION = 'kubernetes.io/config.mirror';

/** A resource that pods refer to, as {@link referenceKey} names it. */
export type ReferencedResource =
  | 'configmaps'
  | 'persistentvolumeclaims'
  | 'resourceclaims'
  | 'secrets'
  | 'serviceaccounts';

export function referenceKey(resource: ReferencedResource, namespace: string, name: string): string {
  return `${resource}/${namespace}/${name}`;
}

export function isMirrorPod(pod: KubeObject): boolean {
  return pod.metadata?.annotations?.[MIRROR_ANNOTATION] !== undefined;
}

/** The node that a pod is bound to; '' for none. */
export function nodeOfPod(pod: KubeObject): string {
  return textOf(fieldsOf(pod.spec), 'nodeName');
}

/** Everything that a pod needs of its namespace to run. */
export function podReferences(pod: KubeObject): Set<string> {
  const keys = new Set<string>();
  if (isMirrorPod(pod)) return keys;
  const spec = fieldsOf(pod.spec);
  const podName = pod.metadata?.name ?? '';
  const add = (resource: ReferencedResource, name: string): void => {
    if (name !== '') keys.add(referenceKey(resource, pod.metadata?.namespace ?? '', name));
  };
  add('serviceaccounts', textOf(spec, 'serviceAccountName'));
  for (const secret of listOf(spec, 'imagePullSecrets')) add('secrets', textOf(secret, 'name'));
  for (const kind of ['initContainers', 'containers', 'ephemeralContainers']) {
    for (const container of listOf(spec, kind)) addEnvironment(container, add);
  }
  for (const volume of listOf(spec, 'volumes')) addVolume(volume, podName, add);
  for (const claim of [...listOf(spec, 'resourceClaims'), ...listOf(fieldsOf(pod.status), 'resourceClaimStatuses')]) {
    add('resourceclaims', textOf(claim, 'resourceClaimName'));
  }
  return keys;
}

type Add = (resource: ReferencedResource, name: string) => void;

function addEnvironment(container: Fields, add: Add): void {
  for (const { valueFrom } of listOf(container, 'env')) {
    add('secrets', textOf(fieldsOf(fieldsOf(valueFrom).secretKeyRef), 'name'));
    add('configmaps', textOf(fieldsOf(fieldsOf(valueFrom).configMapKeyRef), 'name'));
  }
  for (const source of listOf(container, 'envFrom')) {
    add('secrets', textOf(fieldsOf(source.secretRef), 'name'));
    add('configmaps', textOf(fieldsOf(source.configMapRef), 'name'));
  }
}

/** The kinds of volumes that name their Secret in the field `secretRef`. */
const SECRET_REF_VOLUMES = ['cephfs', 'cinder', 'flexVolume', 'iscsi', 'rbd', 'scaleIO', 'storageos'];

function addVolume(volume: Fields, podName: string, add: Add): void {
  add('secrets', textOf(fieldsOf(volume.secret), 'secretName'));
  add('secrets', textOf(fieldsOf(volume.azureFile), 'secretName'));
  add('secrets', textOf(fieldsOf(fieldsOf(volume.csi).nodePublishSecretRef), 'name'));
  for (const kind of SECRET_REF_VOLUMES) add('secrets', textOf(fieldsOf(fieldsOf(volume[kind]).secretRef), 'name'));
  add('configmaps', textOf(fieldsOf(volume.configMap), 'name'));
  add('persistentvolumeclaims', textOf(fieldsOf(volume.persistentVolumeClaim), 'claimName'));
  if (volume.ephemeral) add('persistentvolumeclaims', `${podName}-${textOf(volume, 'name')}`);
  for (const source of listOf(fieldsOf(volume.projected), 'sources')) {
    add('secrets', textOf(fieldsOf(source.secret), 'name'));
    add('configmaps', textOf(fieldsOf(source.configMap), 'name'));
  }
}

/** Where a PersistentVolume names the Secrets that whoever mounts it needs. */
const CSI_SECRETS = [
  'controllerExpandSecretRef',
  'controllerPublishSecretRef',
  'nodeExpandSecretRef',
  'nodePublishSecretRef',
  'nodeStageSecretRef',
];

export interface VolumeReferences {
  /** The claim that has the volume, by {@link referenceKey}; '' for none. */
  claim: string;
  secrets: Set<string>;
}

/** Which claim a PersistentVolume belongs to, and which Secrets it takes to mount it. */
export function volumeReferences(volume: KubeObject): VolumeReferences {
  const spec = fieldsOf(volume.spec);
  const claimRef = fieldsOf(spec.claimRef);
  const namespace = textOf(claimRef, 'namespace');
  const claim = textOf(claimRef, 'name');
  const secrets = new Set<string>();
  const add = (ref: Fields, name = 'name', at = 'namespace'): void => {
    const found = textOf(ref, name);
    if (found !== '') secrets.add(referenceKey('secrets', textOf(ref, at) || namespace, found));
  };
  for (const kind of SECRET_REF_VOLUMES) add(fieldsOf(fieldsOf(spec[kind]).secretRef));
  for (const kind of CSI_SECRETS) add(fieldsOf(fieldsOf(spec.csi)[kind]));
  add(fieldsOf(spec.azureFile), 'secretName', 'secretNamespace');
  return { claim: claim === '' ? '' : referenceKey('persistentvolumeclaims', namespace, claim), secrets };
}

export function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null ? (value as Fields) : {};
}

export function listOf(fields: Fields, name: string): Fields[] {
  const value = fields[name];
  return Array.isArray(value) ? value.map(fieldsOf) : [];
}

export function textOf(fields: Fields, name: string): string {
  const value = fields[name];
  return typeof value === 'string' ? value : '';
}
