import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import type { KubeObject } from '@asterism/machinery';
import { openTestRegistry, TEST_USER } from '../compose/testing/test-registry.ts';
import { createCertificateAuthority, createSigningRequest, issueCertificate } from './index.ts';
import { cleanSigningRequests, isPastUse } from './signing-cleaner.ts';

const NOW = Date.parse('2026-01-02T00:00:00Z');
const HOUR = 60 * 60 * 1000;
let expired = '';
let good = '';

before(async () => {
  const ca = await createCertificateAuthority({ commonName: 'ca', now: NOW - 400 * 24 * HOUR });
  const certify = async (now: number): Promise<string> => {
    const { cert } = await issueCertificate(ca, { commonName: 'a', usages: ['client'], days: 1, now });
    return Buffer.from(cert).toString('base64');
  };
  [expired, good] = await Promise.all([certify(NOW - 30 * HOUR), certify(NOW)]);
});

const ago = (hours: number): string => new Date(NOW - hours * HOUR).toISOString();

const rows: [
  name: string,
  made: number,
  decided: [type: string, hours: number] | undefined,
  cert: () => string,
  boolean,
][] = [
  ['waiting', 23, undefined, () => '', false],
  ['waiting for more than a day', 25, undefined, () => '', true],
  ['that waited long and was denied lately', 30, ['Denied', 0.5], () => '', false],
  ['denied', 3, ['Denied', 2], () => '', true],
  ['denied lately', 3, ['Denied', 0.5], () => '', false],
  ['failed', 3, ['Failed', 2], () => '', true],
  ['approved and not signed yet', 3, ['Approved', 2], () => '', false],
  ['signed lately', 3, ['Approved', 0.5], () => good, false],
  ['signed', 3, ['Approved', 2], () => good, true],
  ['with a certificate that has expired', 0.2, ['Approved', 0.1], () => expired, true],
];

for (const [name, made, decided, cert, expect] of rows) {
  test(`a request ${name} ${expect ? 'goes' : 'stays'}`, () => {
    const conditions = decided && [{ type: decided[0], status: 'True', lastUpdateTime: ago(decided[1]) }];
    const status = { ...(conditions && { conditions }), ...(cert() && { certificate: cert() }) };
    assert.equal(isPastUse({ metadata: { creationTimestamp: ago(made) }, status } as KubeObject, NOW), expect);
  });
}

test('what is past its use is deleted, and nothing else', async () => {
  let now = NOW;
  const clock = (): number => now;
  await using t = await openTestRegistry({ clock });
  const place = 'certificates.k8s.io/v1/certificatesigningrequests';
  const { csr } = await createSigningRequest({ commonName: 'a' });
  const make = (name: string): Promise<KubeObject> =>
    t.create(place, {
      metadata: { name },
      spec: {
        request: Buffer.from(csr).toString('base64'),
        signerName: 'kubernetes.io/kube-apiserver-client',
        usages: ['client auth'],
      },
    });
  await make('old');
  now += 25 * HOUR;
  await make('new');
  const { signal } = new AbortController();
  await cleanSigningRequests({ registry: t.registry, user: TEST_USER, clock, signal, onError: assert.ifError });
  await assert.rejects(t.get(place, 'old'), { code: 404 });
  assert.equal((await t.get(place, 'new')).metadata?.name, 'new');
});
