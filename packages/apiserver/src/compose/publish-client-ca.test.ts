import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { ConfigMap } from '@asterism/machinery';
import { createCertificateAuthority } from '../pki/certificate-authority.ts';
import { issueCertificate } from '../pki/issue-certificate.ts';
import { publishClientCa } from './publish-client-ca.ts';
import { openTestRegistry } from './testing/test-registry.ts';

const USER = { username: 'system:apiserver', groups: [] };
const NAME = 'extension-apiserver-authentication';

function certificate(text: string): string {
  return `-----BEGIN CERTIFICATE-----\n${text}\n-----END CERTIFICATE-----\n`;
}

describe('what servers beside this one are told of its authorities', () => {
  for (const [what, bundles, expected] of [
    ['one', [['A']], ['A']],
    ['that of a restart is the same', [['A'], ['A']], ['A']],
    ['a new one joins what others may trust', [['A'], ['B']], ['A', 'B']],
    [
      'each of a bundle, once',
      [
        ['A', 'B'],
        ['B', 'C'],
      ],
      ['A', 'B', 'C'],
    ],
  ] as const) {
    test(what, async () => {
      await using t = await openTestRegistry();
      await t.create('v1/namespaces', { metadata: { name: 'kube-system' } });
      const pem = (names: readonly string[]) => names.map(certificate).join('');
      for (const bundle of bundles) await publishClientCa(t.registry, USER, { clientCa: pem(bundle) });
      const found = await t.registry.get(t.resource('v1/configmaps'), { namespace: 'kube-system', name: NAME });
      const { data } = found.parse() as ConfigMap;
      assert.deepEqual(data, { 'client-ca-file': pem(expected) });
    });
  }

  test('who may name callers to them, where its authority is given', async () => {
    await using t = await openTestRegistry();
    await t.create('v1/namespaces', { metadata: { name: 'kube-system' } });
    const ca = await createCertificateAuthority({ commonName: 'front-proxy' });
    const data = async (): Promise<Record<string, string> | undefined> => {
      const found = await t.registry.get(t.resource('v1/configmaps'), { namespace: 'kube-system', name: NAME });
      return (found.parse() as ConfigMap).data;
    };
    for (const commonName of ['one', 'one', 'two']) {
      const pair = await issueCertificate(ca, { commonName, usages: ['client'], days: 1 });
      await publishClientCa(t.registry, USER, { clientCa: certificate('A'), proxyClient: { ...pair, ca: ca.cert } });
    }
    const told = {
      'client-ca-file': certificate('A'),
      'requestheader-client-ca-file': `${ca.cert.trim()}\n`,
      'requestheader-allowed-names': '["one","two"]',
      'requestheader-username-headers': '["X-Remote-User"]',
      'requestheader-uid-headers': '["X-Remote-Uid"]',
      'requestheader-group-headers': '["X-Remote-Group"]',
      'requestheader-extra-headers-prefix': '["X-Remote-Extra-"]',
    };
    assert.deepEqual(await data(), told);
    await publishClientCa(t.registry, USER, { clientCa: certificate('A') });
    assert.deepEqual(await data(), told);
  });
});
