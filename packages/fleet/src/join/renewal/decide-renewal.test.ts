import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { agentKeyGroup, type Cluster } from '../../api/index.ts';
import type { CertificateRequestFacts } from '../registration/read-certificate-request.ts';
import { decideRenewal } from './decide-renewal.ts';

const KEY = `sha256:${'a'.repeat(64)}`;
const OTHER = `sha256:${'b'.repeat(64)}`;
const AGENT = 'asterism:agent:edge-1';

const facts: CertificateRequestFacts = {
  name: 'edge-1-abc',
  username: AGENT,
  groups: ['asterism:agents', agentKeyGroup(KEY), 'system:authenticated'],
  signerName: 'kubernetes.io/kube-apiserver-client',
  usages: ['client auth', 'digital signature'],
  commonName: AGENT,
  organizations: ['asterism:agents', agentKeyGroup(KEY)],
  extras: [],
  publicKeyHash: KEY,
  digest: undefined,
  outcome: undefined,
};

function cluster(publicKeyHash: string | undefined): Cluster {
  return {
    apiVersion: 'asterism.dev/v1alpha1',
    kind: 'Cluster',
    metadata: { name: 'edge-1' },
    spec: { id: 'id-1', syncMode: 'Pull', connection: { type: 'Tunnel' }, ...(publicKeyHash ? { publicKeyHash } : {}) },
  };
}

describe('a new certificate', () => {
  test('is given to the holder of the cluster’s key', () => {
    const { verdict, reason } = decideRenewal(AGENT, facts, cluster(KEY));
    assert.deepEqual([verdict, reason], ['Approve', 'Renewed']);
  });

  const ofOther = { organizations: ['asterism:agents', agentKeyGroup(OTHER)], publicKeyHash: OTHER };
  const rows: [name: string, change: Partial<CertificateRequestFacts> | string, live: Cluster | undefined, string][] = [
    ['for another cluster', { commonName: 'asterism:agent:edge-2' }, cluster(KEY), 'WrongSubject'],
    ['for an administrator', { commonName: 'admin' }, cluster(KEY), 'WrongSubject'],
    [
      'with a further group',
      { organizations: [...facts.organizations, 'asterism:admins'] },
      cluster(KEY),
      'WrongSubject',
    ],
    ['with another key’s group', { organizations: ofOther.organizations }, cluster(KEY), 'WrongSubject'],
    ['with alternative names', { extras: ['2.5.29.17'] }, cluster(KEY), 'WrongSubject'],
    ['for a server', { usages: ['server auth'] }, cluster(KEY), 'WrongUsages'],
    ['by another signer', { signerName: 'kubernetes.io/kubelet-serving' }, cluster(KEY), 'WrongSigner'],
    ['for another key', ofOther, cluster(KEY), 'KeyDiffers'],
    ['for a key that was replaced', {}, cluster(OTHER), 'KeyDiffers'],
    ['for a key that was taken away', {}, cluster(undefined), 'KeyDiffers'],
    ['asked for without the key’s rights', { groups: ['asterism:agents'] }, cluster(KEY), 'KeyDiffers'],
    ['for a cluster that left', {}, undefined, 'ClusterGone'],
    ['that cannot be read', 'it holds no PEM block', cluster(KEY), 'RequestMalformed'],
  ];
  for (const [name, change, live, reason] of rows) {
    test(`is not given ${name}`, () => {
      const request = typeof change === 'string' ? change : { ...facts, ...change };
      const decision = decideRenewal(AGENT, request, live);
      assert.deepEqual([decision.verdict, decision.reason], ['Deny', reason], decision.message);
    });
  }
});
