import { isJsonObject, type KubeObject, type PodSpec, type ServiceAccount } from '@asterism/machinery';
import type { ObjectReference } from '../api/index.ts';
import type { Binding } from './binding-client.ts';
import { podSpecOf, podSpecsOf } from './pod-template.ts';
import type { TemplateKey } from './template-key.ts';
import { byName } from './tie-break.ts';

/** An object that a template names, in its own namespace. */
export interface Dependency {
  apiVersion: 'v1';
  kind: 'ConfigMap' | 'Secret' | 'PersistentVolumeClaim' | 'ServiceAccount';
  name: string;
}

/** The kinds that dependencies can be of. */
export const DEPENDENCY_KINDS: readonly Dependency['kind'][] = [
  'ConfigMap',
  'Secret',
  'PersistentVolumeClaim',
  'ServiceAccount',
];

/**
 * The ConfigMaps, Secrets, claims and service account that the pods of a template of any kind need, the TLS Secrets of an Ingress, and
 * the image pull secrets of a service account; sorted, each once. Not the service account `default`, which every namespace has, nor
 * claims that a StatefulSet makes; nor the `secrets` of a service account: those are tokens, and each cluster makes its own.
 */
export function dependenciesOf(template: KubeObject): Dependency[] {
  const found = new Found();
  for (const pods of podSpecsOf(template)) {
    collectVolumes(pods, found);
    collectContainers(pods, found);
    for (const { name } of listOf(pods.imagePullSecrets)) found.add('Secret', name);
    const account = pods.serviceAccountName ?? pods.serviceAccount;
    if (account !== 'default') found.add('ServiceAccount', account);
  }
  if (template.kind === 'StatefulSet') removeOwnClaims(template, found);
  if (template.kind === 'Ingress') {
    const { tls } = (template['spec'] ?? {}) as { tls?: { secretName?: string }[] };
    for (const { secretName } of listOf(tls)) found.add('Secret', secretName);
  }
  if (template.kind === 'ServiceAccount' && template.apiVersion === 'v1') {
    for (const { name } of listOf((template as ServiceAccount).imagePullSecrets)) found.add('Secret', name);
  }
  return found.list();
}

/** The same as keys of templates: none of what has no namespace. */
export function dependencyKeysOf(template: KubeObject): TemplateKey[] {
  const namespace = template.metadata?.namespace;
  return namespace ? dependenciesOf(template).map((dependency) => ({ ...dependency, namespace })) : [];
}

/** Whether what a binding's template needs goes where the template goes. */
export function takesDependencies({ metadata, spec }: Binding): boolean {
  return spec.propagateDeps === true && (spec.clusters ?? []).length > 0 && !metadata.deletionTimestamp;
}

/**
 * The bindings whose clusters get what the template of `binding` needs. That is its own where its policy takes along what is needed; else
 * those of what it is needed for itself: a service account's pull secrets go where its workloads go, and nowhere else.
 */
export function leadersOf(binding: Binding, bindingOf: (parent: ObjectReference) => Binding | undefined): Binding[] {
  if (binding.metadata.deletionTimestamp) return [];
  if (binding.spec.propagateDeps) return [binding].filter(takesDependencies);
  const parents = (binding.spec.requiredBy ?? []).flatMap((parent) => bindingOf(parent) ?? []);
  return parents.filter(takesDependencies);
}

class Found {
  readonly #names = new Map<string, Dependency>();

  add(kind: Dependency['kind'], name: string | undefined): void {
    if (typeof name === 'string' && name !== '') this.#names.set(`${kind}/${name}`, { apiVersion: 'v1', kind, name });
  }

  remove(kind: Dependency['kind'], name: string): void {
    this.#names.delete(`${kind}/${name}`);
  }

  list(): Dependency[] {
    return [...this.#names].toSorted(([a], [b]) => byName(a, b)).map(([, dependency]) => dependency);
  }
}

function collectVolumes({ volumes }: PodSpec, found: Found): void {
  for (const volume of listOf(volumes)) {
    found.add('ConfigMap', volume.configMap?.name);
    found.add('Secret', volume.secret?.secretName);
    found.add('PersistentVolumeClaim', volume.persistentVolumeClaim?.claimName);
    for (const source of listOf(volume.projected?.sources)) {
      found.add('ConfigMap', source.configMap?.name);
      found.add('Secret', source.secret?.name);
    }
    for (const secret of driverSecrets(volume)) found.add('Secret', secret);
  }
}

type Container = Pick<PodSpec['containers'][number], 'env' | 'envFrom'>;

/** A custom resource's definition may leave open what stands where pods have a list. */
function listOf<T extends object>(items: readonly T[] | undefined): readonly T[] {
  return Array.isArray(items) ? (items as readonly T[]).filter((item: unknown) => isJsonObject(item)) : [];
}

type Volume = NonNullable<PodSpec['volumes']>[number];

/** Secrets with which a storage driver logs in. */
function driverSecrets({ azureFile, cephfs, cinder, csi, flexVolume, iscsi, rbd, scaleIO, storageos }: Volume) {
  return [
    azureFile?.secretName,
    cephfs?.secretRef?.name,
    cinder?.secretRef?.name,
    csi?.nodePublishSecretRef?.name,
    flexVolume?.secretRef?.name,
    iscsi?.secretRef?.name,
    rbd?.secretRef?.name,
    scaleIO?.secretRef?.name,
    storageos?.secretRef?.name,
  ];
}

function collectContainers({ containers, initContainers, ephemeralContainers }: PodSpec, found: Found): void {
  for (const { env, envFrom } of [containers, initContainers, ephemeralContainers].flatMap(listOf<Container>)) {
    for (const { valueFrom } of listOf(env)) {
      found.add('ConfigMap', valueFrom?.configMapKeyRef?.name);
      found.add('Secret', valueFrom?.secretKeyRef?.name);
    }
    for (const { configMapRef, secretRef } of listOf(envFrom)) {
      found.add('ConfigMap', configMapRef?.name);
      found.add('Secret', secretRef?.name);
    }
  }
}

/** A volume that bears the name of a claim template is made for each pod. */
function removeOwnClaims(template: KubeObject, found: Found): void {
  const { volumeClaimTemplates } = (template['spec'] ?? {}) as { volumeClaimTemplates?: KubeObject[] };
  const own = new Set(volumeClaimTemplates?.map(({ metadata }) => metadata?.name));
  for (const volume of listOf(podSpecOf(template)?.volumes)) {
    const claim = volume.persistentVolumeClaim?.claimName;
    if (claim && own.has(volume.name)) found.remove('PersistentVolumeClaim', claim);
  }
}
