import { X509Certificate } from 'node:crypto';
import { CONFIG_MAPS, deepEqual, isAlreadyExists, isNotFound, type KubeObject, parseJson } from '@asterism/machinery';
import type { AggregationOptions } from '../aggregation/aggregation-options.ts';
import type { UserInfo } from '../contract/user-info.ts';
import { discardingDamaged } from '../registry/discard-damaged.ts';
import type { Registry } from '../registry/registry.ts';
import { requireResource } from '../registry/require-resource.ts';

const NAMESPACE = 'kube-system';
const NAME = 'extension-apiserver-authentication';
const PEM = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/** Whose word on who callers are counts. */
export interface PublishedAuthorities {
  /** PEM bundle. */
  clientCa?: string | undefined;
  /** How this server names callers to those behind it; told where its authority is given. */
  proxyClient?: AggregationOptions['proxyClient'];
}

type Data = Readonly<Record<string, string>>;

/**
 * Tells servers beside this one whose certificates name users, and who may name callers to them, as upstream does:
 * kube-controller-manager, kube-scheduler and servers behind an aggregator read it from the ConfigMap
 * `kube-system/extension-apiserver-authentication`. What stands there already stays: another server may trust it.
 */
export async function publishClientCa(
  registry: Registry,
  user: UserInfo,
  authorities: PublishedAuthorities,
): Promise<void> {
  const ref = { namespace: NAMESPACE, name: NAME };
  await discardingDamaged(registry, CONFIG_MAPS, { ref, user }, () => publish(registry, user, authorities));
}

async function publish(registry: Registry, user: UserInfo, authorities: PublishedAuthorities): Promise<void> {
  const resource = requireResource(registry, CONFIG_MAPS);
  const context = { namespace: NAMESPACE, user, fieldManager: 'kube-apiserver' };
  const metadata = { namespace: NAMESPACE, name: NAME };
  try {
    const existing = (await registry.get(resource, metadata)).parse();
    const before = (existing.data as Data | undefined) ?? {};
    const data = withAuthorities(before, authorities);
    if (deepEqual(data, before)) return;
    const changed: KubeObject = { ...existing, data };
    await registry.update(resource, metadata, changed, { ...context, name: NAME });
  } catch (error) {
    if (!isNotFound(error)) throw error;
    const data = withAuthorities({}, authorities);
    if (Object.keys(data).length === 0) return;
    const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata, data };
    await registry.create(resource, object, context).catch((createError: unknown) => {
      if (!isAlreadyExists(createError)) throw createError;
    });
  }
}

function withAuthorities(data: Data, { clientCa, proxyClient }: PublishedAuthorities): Data {
  const told: Record<string, string> = { ...data };
  if (clientCa !== undefined) told['client-ca-file'] = joinBundles(data['client-ca-file'], clientCa);
  if (proxyClient?.ca === undefined) return told;
  told['requestheader-client-ca-file'] = joinBundles(data['requestheader-client-ca-file'], proxyClient.ca);
  const name = /^CN=(.*)$/m.exec(new X509Certificate(proxyClient.cert).subject)?.[1] ?? '';
  const lists = {
    'requestheader-allowed-names': name,
    'requestheader-username-headers': 'X-Remote-User',
    'requestheader-uid-headers': 'X-Remote-Uid',
    'requestheader-group-headers': 'X-Remote-Group',
    'requestheader-extra-headers-prefix': 'X-Remote-Extra-',
  };
  for (const [key, entry] of Object.entries(lists)) told[key] = joinLists(data[key], entry);
  return told;
}

function joinBundles(before: string | undefined, added: string): string {
  const bundle = new Set([...certificatesOf(before ?? ''), ...certificatesOf(added)]);
  return [...bundle].map((certificate) => `${certificate}\n`).join('');
}

/** Lists are JSON in texts; one that is none is made anew. */
function joinLists(before: string | undefined, added: string): string {
  let known: unknown;
  try {
    known = parseJson(before ?? '[]');
  } catch {
    known = [];
  }
  return JSON.stringify([...new Set([...(Array.isArray(known) ? (known as unknown[]) : []), added])]);
}

function certificatesOf(bundle: string): string[] {
  return bundle.match(PEM) ?? [];
}
