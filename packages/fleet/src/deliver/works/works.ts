import { isNotFound, type KubeObject } from '@asterism/machinery';
import type { Client } from '@asterism/client';
import type { Cluster, Informer, InformerHandler } from '@asterism/runtime';
import { BINDING_UID_LABEL, WORKS, type Work } from '../../api/index.ts';
import { managedLabelValue } from '../../template/binding-name.ts';

const BY_BINDING = 'binding';
const BY_NAMESPACE = 'namespace';
const BY_MANAGED_LABEL = 'managed label';

const bindingIndex = ({ metadata }: KubeObject): string[] => {
  const uid = metadata?.labels?.[BINDING_UID_LABEL];
  return uid ? [uid] : [];
};
const managedLabelIndex = ({ metadata }: KubeObject): string[] => [
  managedLabelKey(metadata?.namespace ?? '', managedLabelValue(metadata?.name ?? '')),
];
const namespaceIndex = ({ metadata }: KubeObject): string[] => [metadata?.namespace ?? ''];

/** The Works of the hub, or of one cluster's namespace, as the cache has them. */
export class Works {
  readonly #informer: Informer<Work>;

  constructor(local: Cluster, namespace?: string) {
    this.#informer = local.cache.informer(WORKS, { namespace });
    this.#informer.addIndex(BY_BINDING, bindingIndex);
    this.#informer.addIndex(BY_NAMESPACE, namespaceIndex);
    this.#informer.addIndex(BY_MANAGED_LABEL, managedLabelIndex);
  }

  /** Tells of every Work, and of what becomes of it, until the signal aborts. */
  follow(handler: InformerHandler<Work>, signal: AbortSignal): void {
    const registration = this.#informer.addHandler(handler);
    signal.addEventListener('abort', () => registration.remove(), { once: true });
  }

  get({ namespace, name }: { namespace?: string | undefined; name: string }): Work | undefined {
    return this.#informer.store.get(`${namespace}/${name}`);
  }

  ofBinding(uid: string | undefined): Work[] {
    return uid === undefined ? [] : this.#informer.store.byIndex(BY_BINDING, uid);
  }

  inNamespace(namespace: string): Work[] {
    return this.#informer.store.byIndex(BY_NAMESPACE, namespace);
  }

  /** Those whose objects carry this value of the managed label. */
  ofManagedLabel(namespace: string, label: string): Work[] {
    return this.#informer.store.byIndex(BY_MANAGED_LABEL, managedLabelKey(namespace, label));
  }
}

function managedLabelKey(namespace: string, label: string): string {
  return `${namespace}/${label}`;
}

/** Deletes a Work. It stays until its executor has removed what it made. */
export async function deleteWork(client: Client, { metadata }: Work, signal: AbortSignal): Promise<void> {
  if (metadata.deletionTimestamp) return;
  const { name = '', namespace, uid } = metadata;
  await client.resource(WORKS).delete({ namespace, name }, { preconditions: { uid }, signal }).catch(ignoreNotFound);
}

function ignoreNotFound(error: unknown): void {
  if (!isNotFound(error)) throw error;
}
