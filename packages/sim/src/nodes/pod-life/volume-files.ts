import type { Container, DownwardAPIVolumeFile, KeyToPath, Pod, Volume, VolumeMount } from '@asterism/machinery';
import { expandVariables } from './expand-variables.ts';
import type { ObjectData, SourceRef } from './object-source.ts';
import { podField, type PodPlace, resourceField } from './pod-field.ts';

export interface VolumeInputs {
  pod: Pod;
  place: PodPlace;
  objects: { get(ref: SourceRef): Promise<ObjectData | undefined> };
  /** A token of the pod's service account. */
  token(projection: { audience?: string; expirationSeconds?: number }): Promise<string>;
}

type Files = Map<string, Uint8Array>;

/** A ConfigMap or Secret, or some keys of it, as a volume takes it. */
interface Part {
  kind: SourceRef['kind'];
  name: string;
  items: readonly KeyToPath[] | undefined;
  optional: boolean;
}

/** Why the volumes of a pod cannot be set up yet, as its event says; undefined where they can. */
export async function volumeFault(pod: Pod, objects: VolumeInputs['objects']): Promise<string | undefined> {
  const namespace = pod.metadata?.namespace ?? '';
  for (const volume of pod.spec?.volumes ?? []) {
    for (const { kind, name, items = [], optional } of partsOf(volume)) {
      if (optional) continue;
      const data = await objects.get({ kind, namespace, name });
      const missing = items.find(({ key }) => data && !data.has(key));
      const why = data ? undefined : `${kind.toLowerCase()} "${name}" not found`;
      const fault = why ?? (missing && 'references non-existent config key: ' + missing.key);
      if (fault) return `MountVolume.SetUp failed for volume "${volume.name}" : ${fault}`;
    }
  }
  return undefined;
}

/** What is mounted read-only in a container, by path. */
export async function mountedFiles(
  container: Container,
  inputs: VolumeInputs,
): Promise<ReadonlyMap<string, Uint8Array>> {
  const files: Files = new Map();
  for (const mount of container.volumeMounts ?? []) {
    const volume = inputs.pod.spec?.volumes?.find(({ name }) => name === mount.name);
    if (!volume) continue;
    for (const [path, bytes] of await filesOf(volume, inputs)) {
      const at = pathIn(mount, path);
      if (at !== undefined) files.set(at, bytes);
    }
  }
  return files;
}

/** Where a volume's file stands in a container; a `subPath` shows one file, or what is below one directory. */
function pathIn({ mountPath, subPath }: VolumeMount, path: string): string | undefined {
  if (!subPath) return `${mountPath}/${path}`;
  if (path === subPath) return mountPath;
  return path.startsWith(`${subPath}/`) ? `${mountPath}/${path.slice(subPath.length + 1)}` : undefined;
}

/** `subPathExpr` made plain. */
export function withPlainSubPaths(container: Container, env: Readonly<Record<string, string>>): Container {
  if (!container.volumeMounts?.some(({ subPathExpr }) => subPathExpr)) return container;
  const volumeMounts = container.volumeMounts.map((mount) =>
    mount.subPathExpr ? { ...mount, subPath: expandVariables(mount.subPathExpr, (name) => env[name]) } : mount,
  );
  return { ...container, volumeMounts };
}

function partsOf({ configMap, secret, projected }: Volume): Part[] {
  const of = (
    kind: Part['kind'],
    from: { name?: string; items?: KeyToPath[]; optional?: boolean } | undefined,
  ): Part[] => (from ? [{ kind, name: from.name ?? '', items: from.items, optional: from.optional === true }] : []);
  const secretVolume = secret && { ...secret, name: secret.secretName ?? '' };
  return [
    ...of('ConfigMap', configMap),
    ...of('Secret', secretVolume),
    ...(projected?.sources ?? []).flatMap((source) => [
      ...of('ConfigMap', source.configMap),
      ...of('Secret', source.secret),
    ]),
  ];
}

async function filesOf(volume: Volume, inputs: VolumeInputs): Promise<Files> {
  const files: Files = new Map();
  const namespace = inputs.pod.metadata?.namespace ?? '';
  for (const { kind, name, items } of partsOf(volume)) {
    const data = await inputs.objects.get({ kind, namespace, name });
    for (const [key, bytes] of data ?? []) {
      const path = items ? items.find((item) => item.key === key)?.path : key;
      if (path !== undefined) files.set(path, bytes);
    }
  }
  const downward = [volume.downwardAPI, ...(volume.projected?.sources ?? []).map((source) => source.downwardAPI)];
  for (const { path, ...file } of downward.flatMap((source) => source?.items ?? []))
    files.set(path, Buffer.from(downwardValue(file, inputs)));
  for (const { serviceAccountToken: wanted } of volume.projected?.sources ?? [])
    if (wanted) files.set(wanted.path, Buffer.from(await inputs.token(wanted)));
  return files;
}

function downwardValue(
  { fieldRef, resourceFieldRef }: Omit<DownwardAPIVolumeFile, 'path'>,
  { pod, place }: VolumeInputs,
): string {
  if (fieldRef) return podField(pod, fieldRef.fieldPath, place) ?? '';
  const { containers = [], initContainers = [] } = pod.spec ?? {};
  const of = [...containers, ...initContainers].find(({ name }) => name === resourceFieldRef?.containerName);
  return (of && resourceFieldRef && resourceField(of, resourceFieldRef, place)) ?? '';
}
