import { type KubeObject, objectKey, PERSISTENT_VOLUMES, PODS } from '@asterism/machinery';
import type { Registry } from '../registry/registry.ts';
import { nodeOfPod, podReferences, type VolumeReferences, volumeReferences } from './node-references.ts';
import type { ServedResource } from '../contract/served-resource.ts';

interface PodPlace {
  node: string;
  references: ReadonlySet<string>;
}

/**
 * Which objects belong to which node, by the pods that are bound to it. Made when a node first asks, so that a server without
 * nodes keeps nothing; from then on it follows every change within its commit, so that no answer is older than the storage.
 */
export class NodeGraph {
  readonly #registry: Registry;
  readonly #signal: AbortSignal;
  /** By node, then by `namespace/name` of the pod. */
  readonly #nodes = new Map<string, Map<string, ReadonlySet<string>>>();
  readonly #pods = new Map<string, PodPlace>();
  readonly #volumes = new Map<string, VolumeReferences>();
  #ready: Promise<void> | undefined;

  constructor(registry: Registry, signal: AbortSignal) {
    this.#registry = registry;
    this.#signal = signal;
  }

  /** Rejects where the registry cannot be read; the next call tries again. */
  async ready(): Promise<void> {
    this.#ready ??= this.#start();
    try {
      await this.#ready;
    } catch (error) {
      this.#ready = undefined;
      throw error;
    }
  }

  /** Whether the pod is bound to the node. */
  hasPod(node: string, namespace: string, name: string): boolean {
    return this.#nodes.get(node)?.has(`${namespace}/${name}`) ?? false;
  }

  /** Whether a pod of the node refers to what `key` names, itself or by a volume of one of its claims. */
  refersTo(node: string, key: string): boolean {
    if (this.#podRefersTo(node, key)) return true;
    for (const { claim, secrets } of this.#volumes.values()) {
      if (secrets.has(key) && this.#podRefersTo(node, claim)) return true;
    }
    return false;
  }

  /** Whether a claim that a pod of the node has is bound to the volume. */
  usesVolume(node: string, name: string): boolean {
    const claim = this.#volumes.get(name)?.claim ?? '';
    return claim !== '' && this.#podRefersTo(node, claim);
  }

  #podRefersTo(node: string, key: string): boolean {
    for (const references of this.#nodes.get(node)?.values() ?? []) if (references.has(key)) return true;
    return false;
  }

  async #start(): Promise<void> {
    this.#nodes.clear();
    this.#pods.clear();
    this.#volumes.clear();
    const pods = this.#registry.find(PODS.group, PODS.version, PODS.resource);
    const { group, version, resource } = PERSISTENT_VOLUMES;
    const volumes = this.#registry.find(group, version, resource);
    /** Changed while the lists are read: what those say of them is older. */
    const changed = new Set<string>();
    const stop = this.#registry.observe((change) => {
      const isPod = change.resource === pods;
      if (!isPod && change.resource !== volumes) return;
      const object = change.stored.parse();
      changed.add(`${isPod ? 'pod' : 'volume'} ${objectKey(object)}`);
      if (isPod) this.#applyPod(object, change.type === 'delete');
      else this.#applyVolume(object, change.type === 'delete');
    });
    try {
      for (const object of await this.#list(volumes)) {
        if (!changed.has(`volume ${objectKey(object)}`)) this.#applyVolume(object, false);
      }
      for (const object of await this.#list(pods)) {
        if (!changed.has(`pod ${objectKey(object)}`)) this.#applyPod(object, false);
      }
    } catch (error) {
      stop();
      throw error;
    }
    changed.clear();
    this.#signal.addEventListener('abort', stop, { once: true });
  }

  async #list(resource: ServedResource | undefined): Promise<KubeObject[]> {
    if (resource === undefined) return [];
    const { items } = await this.#registry.list(resource, { signal: this.#signal, skipDamaged: true });
    return items.map((item) => item.parse());
  }

  #applyPod(pod: KubeObject, isGone: boolean): void {
    const key = `${pod.metadata?.namespace ?? ''}/${pod.metadata?.name ?? ''}`;
    const known = this.#pods.get(key);
    if (known !== undefined) {
      this.#pods.delete(key);
      const ofNode = this.#nodes.get(known.node);
      ofNode?.delete(key);
      if (ofNode?.size === 0) this.#nodes.delete(known.node);
    }
    const node = nodeOfPod(pod);
    if (isGone || node === '') return;
    const references = podReferences(pod);
    this.#pods.set(key, { node, references });
    const ofNode = this.#nodes.get(node) ?? new Map<string, ReadonlySet<string>>();
    this.#nodes.set(node, ofNode.set(key, references));
  }

  #applyVolume(volume: KubeObject, isGone: boolean): void {
    const name = volume.metadata?.name ?? '';
    const references = volumeReferences(volume);
    if (isGone || references.claim === '') this.#volumes.delete(name);
    else this.#volumes.set(name, references);
  }
}
