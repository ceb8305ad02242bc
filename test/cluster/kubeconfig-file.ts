import { writeFile } from 'node:fs/promises';
import type { Connection } from '@asterism/client';

/** Writes a kubeconfig of one context, mode 0600, for programs that take nothing else. Resolves with its path. */
export async function writeKubeconfig(file: string, connection: Connection): Promise<string> {
  const { server, caData = '', credential } = connection;
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'test',
    clusters: [{ name: 'test', cluster: { server, 'certificate-authority-data': base64(caData) } }],
    users: [{ name: 'test', user: userOf(credential) }],
    contexts: [{ name: 'test', context: { cluster: 'test', user: 'test' } }],
  };
  await writeFile(file, JSON.stringify(config), { mode: 0o600 });
  return file;
}

function userOf(credential: Connection['credential']): Record<string, string> {
  switch (credential.kind) {
    case 'certificate':
      return {
        'client-certificate-data': base64(credential.cert),
        'client-key-data': base64(credential.key),
      };
    case 'token':
      return { token: credential.token };
    case 'tokenFile':
      return { tokenFile: credential.path };
    default:
      throw new Error(`no kubeconfig is written for a credential of kind ${credential.kind}`);
  }
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64');
}
