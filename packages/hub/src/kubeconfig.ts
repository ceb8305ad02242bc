import { renameSync, writeFileSync } from 'node:fs';
import type { Connection } from '@asterism/client';

/** The context that `kubectl` finds in the hub's kubeconfig. */
export const CONTEXT = 'asterism';

/** A kubeconfig with one context, its certificates inside. */
export function formatKubeconfig(connection: Connection & { credential: { kind: 'certificate' } }): string {
  const { server, caData = '', credential } = connection;
  const base64 = (text: string): string => Buffer.from(text).toString('base64');
  return `apiVersion: v1
kind: Config
current-context: ${CONTEXT}
clusters:
  - name: ${CONTEXT}
    cluster:
      server: ${server}
      certificate-authority-data: ${base64(caData)}
users:
  - name: ${CONTEXT}
    user:
      client-certificate-data: ${base64(credential.cert)}
      client-key-data: ${base64(credential.key)}
contexts:
  - name: ${CONTEXT}
    context:
      cluster: ${CONTEXT}
      user: ${CONTEXT}
`;
}

/** Mode 0600; a reader sees the old file or the new one, never half of it. */
export function writeKubeconfig(file: string, text: string): void {
  writeFileSync(`${file}.new`, text, { mode: 0o600 });
  renameSync(`${file}.new`, file);
}
