import { createPrivateKey } from 'node:crypto';
import { chmodSync, existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { clientCertificate, type Connection, type Credential, type Impersonation } from '@asterism/client';

/** The context that `kubectl` finds in the hub's kubeconfig. */
export const CONTEXT = 'asterism';

/** A kubeconfig with one context, in JSON's part of YAML; what a connection holds is inside, what it refers to is referred to. */
export function formatKubeconfig(connection: Connection): string {
  const { server, caData, tlsServerName, credential, impersonate } = connection;
  const cluster = {
    server,
    ...(caData === undefined ? {} : { 'certificate-authority-data': base64(caData) }),
    ...(tlsServerName === undefined ? {} : { 'tls-server-name': tlsServerName }),
  };
  const user = { ...userOf(credential), ...(impersonate ? impersonationOf(impersonate) : {}) };
  return `apiVersion: v1
kind: Config
current-context: ${CONTEXT}
clusters:
  - name: ${CONTEXT}
    cluster:
${lines(cluster)}
users:
  - name: ${CONTEXT}
    user:
${lines(user)}
contexts:
  - name: ${CONTEXT}
    context:
      cluster: ${CONTEXT}
      user: ${CONTEXT}
`;
}

function userOf(credential: Credential): object {
  switch (credential.kind) {
    case 'none':
      return {};
    case 'token':
      return { token: credential.token, ...certificateOf(credential) };
    case 'tokenFile': {
      const { path: tokenFile, token } = credential;
      return { tokenFile, ...(token === undefined ? {} : { token }), ...certificateOf(credential) };
    }
    case 'certificate':
      return certificateOf(credential);
    case 'exec':
      return { exec: credential.exec };
  }
}

function certificateOf(credential: Credential): object {
  const certificate = clientCertificate(credential);
  if (certificate === undefined) return {};
  const { cert, key } = certificate;
  return { 'client-certificate-data': base64(cert), 'client-key-data': base64(asWrittenByGo(key)) };
}

/**
 * client-go and kubeadm write EC keys as SEC1 (`BEGIN EC PRIVATE KEY`). Some clients, Java's fabric8 among them, take every PKCS#8 key for RSA.
 */
function asWrittenByGo(pem: string): string {
  if (!pem.includes('-----BEGIN PRIVATE KEY-----')) return pem;
  const key = createPrivateKey(pem);
  return key.asymmetricKeyType === 'ec' ? key.export({ type: 'sec1', format: 'pem' }).toString() : pem;
}

function impersonationOf({ user, uid, groups, extra }: Impersonation): object {
  return {
    as: user,
    ...(uid === undefined ? {} : { 'as-uid': uid }),
    ...(groups === undefined ? {} : { 'as-groups': groups }),
    ...(extra === undefined ? {} : { 'as-user-extra': extra }),
  };
}

/** Every JSON value is YAML. */
function lines(entries: object): string {
  const written = Object.entries(entries).map(([key, value]) => `      ${key}: ${plain(value)}`);
  return written.length === 0 ? '      {}' : written.join('\n');
}

/** Addresses and base64 can stand without quotes, and are easier to read so. */
function plain(value: unknown): string {
  return typeof value === 'string' && /^[A-Za-z][\w+/:.=-]*$/.test(value) ? value : JSON.stringify(value);
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64');
}

/**
 * Mode 0600; a reader sees the old file or the new one, never half of it. A file that says this already is left as it is, so that a
 * hub starts on a full disk too.
 */
export function writeKubeconfig(file: string, text: string): void {
  if (existsSync(file) && readFileSync(file, 'utf8') === text) {
    chmodSync(file, 0o600);
    return;
  }
  writeFileSync(`${file}.new`, text, { mode: 0o600 });
  renameSync(`${file}.new`, file);
}
