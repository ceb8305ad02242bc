import { readFile } from 'node:fs/promises';
import { type ApiServerOptions, createMemoryStorage } from '@asterism/apiserver';
import type { ClusterPki } from './cluster-pki.ts';

/**
 * What an API server of ours is made with when it stands where a real one would: on loopback, in memory, under the certificates of
 * a control plane, and without controllers of its own.
 */
export async function servedAs(
  pki: ClusterPki,
): Promise<Pick<ApiServerOptions, 'storage' | 'listen' | 'tls' | 'clientCa' | 'controllers'>> {
  return {
    storage: createMemoryStorage(),
    listen: { host: '127.0.0.1', port: 0 },
    tls: {
      cert: await readFile(pki.file('apiserver.crt'), 'utf8'),
      key: await readFile(pki.file('apiserver.key'), 'utf8'),
    },
    clientCa: pki.ca.cert,
    controllers: false,
  };
}
