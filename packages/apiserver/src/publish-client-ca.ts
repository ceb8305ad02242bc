import { CONFIG_MAPS, isAlreadyExists, isNotFound, type KubeObject } from '@asterism/machinery';
import type { UserInfo } from './authentication/user-info.ts';
import type { Registry } from './registry/registry.ts';
import { requireResource } from './registry/require-resource.ts';

const NAMESPACE = 'kube-system';
const NAME = 'extension-apiserver-authentication';
const KEY = 'client-ca-file';
const PEM = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/**
 * Tells servers beside this one whose certificates name users, as upstream does: kube-controller-manager, kube-scheduler and
 * servers behind an aggregator read it from the ConfigMap `kube-system/extension-apiserver-authentication`. Authorities that
 * stand there already stay: another server may trust them.
 *
 * @param clientCa PEM bundle
 */
export async function publishClientCa(registry: Registry, user: UserInfo, clientCa: string): Promise<void> {
  const resource = requireResource(registry, CONFIG_MAPS);
  const context = { namespace: NAMESPACE, user, fieldManager: 'kube-apiserver' };
  const metadata = { namespace: NAMESPACE, name: NAME };
  try {
    const existing = (await registry.get(resource, metadata)).parse();
    const data = (existing.data as Record<string, string> | undefined) ?? {};
    const known = new Set(certificatesOf(data[KEY] ?? ''));
    const lacking = certificatesOf(clientCa).filter((certificate) => !known.has(certificate));
    if (lacking.length === 0) return;
    const bundle = [...known, ...lacking].map((certificate) => `${certificate}\n`).join('');
    const changed: KubeObject = { ...existing, data: { ...data, [KEY]: bundle } };
    await registry.update(resource, metadata, changed, { ...context, name: NAME });
  } catch (error) {
    if (!isNotFound(error)) throw error;
    const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { [KEY]: clientCa } };
    await registry.create(resource, object, context).catch((createError: unknown) => {
      if (!isAlreadyExists(createError)) throw createError;
    });
  }
}

function certificatesOf(bundle: string): string[] {
  return bundle.match(PEM) ?? [];
}
