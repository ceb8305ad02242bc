import { createPublicKey } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  type CertificateSubject,
  createCertificateAuthority,
  issueCertificate,
  type KeyPair,
  newPrivateKey,
} from '@asterism/apiserver';

/** Whom a client certificate names. */
export interface User {
  commonName: string;
  organizations?: string[];
}

export const ADMIN: User = { commonName: 'admin', organizations: ['system:masters'] };

/** The keys of one control plane, as PEM files of mode 0600 that its programs are pointed at. */
export class ClusterPki {
  readonly dir: string;
  readonly ca: KeyPair;

  private constructor(dir: string, ca: KeyPair) {
    this.dir = dir;
    this.ca = ca;
  }

  /** `addresses`: what clients call the API server by, besides `localhost` and 127.0.0.1. */
  static async create(dir: string, addresses: readonly string[]): Promise<ClusterPki> {
    const pki = new ClusterPki(dir, await createCertificateAuthority({ commonName: 'kubernetes' }));
    const frontProxy = await createCertificateAuthority({ commonName: 'front-proxy' });
    await pki.#write('ca', pki.ca);
    await pki.#write('front-proxy-ca', frontProxy);
    await pki.issue('apiserver', {
      commonName: 'kube-apiserver',
      dnsNames: ['localhost', 'kubernetes.default.svc'],
      ipAddresses: ['127.0.0.1', ...addresses],
      usages: ['server'],
    });
    await pki.issueClient('kubelet-client', { commonName: 'kube-apiserver', organizations: ['system:masters'] });
    await pki.issue('front-proxy-client', { commonName: 'front-proxy-client', usages: ['client'] }, frontProxy);
    const key = newPrivateKey();
    await pki.#writeFile('service-account.key', key);
    await pki.#writeFile(
      'service-account.pub',
      createPublicKey(key).export({ type: 'spki', format: 'pem' }).toString(),
    );
    return pki;
  }

  file(name: string): string {
    return join(this.dir, name);
  }

  /** Writes `NAME.crt` and `NAME.key`. */
  async issue(name: string, subject: CertificateSubject, authority: KeyPair = this.ca): Promise<KeyPair> {
    return await this.#write(name, await issueCertificate(authority, { ...subject, days: 30 }));
  }

  async issueClient(name: string, user: User): Promise<KeyPair> {
    return await this.issue(name, { ...user, usages: ['client'] });
  }

  async #write(name: string, pair: KeyPair): Promise<KeyPair> {
    await this.#writeFile(`${name}.crt`, pair.cert);
    await this.#writeFile(`${name}.key`, pair.key);
    return pair;
  }

  async #writeFile(name: string, text: string): Promise<void> {
    await writeFile(this.file(name), text, { mode: 0o600 });
  }
}
