import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { agentKeyGroup, type Cluster, type ClusterRegistration } from '../../api/index.ts';
import type { ApprovalRule } from '../configuration/approval-rules.ts';
import { decideRegistration, type RegistrationDecision } from './decide-registration.ts';
import type { CertificateRequestFacts } from './read-certificate-request.ts';
import { registrationDigest } from './registration-digest.ts';

const KEY = `sha256:${'a'.repeat(64)}`;
const OTHER_KEY = `sha256:${'b'.repeat(64)}`;
const REGISTER = 'system:bootstrappers:asterism:register';
const AUTO_APPROVE = 'system:bootstrappers:asterism:auto-approve';

const spec: ClusterRegistration['spec'] = {
  clusterId: 'id-1',
  clusterName: 'edge-1',
  certificateRequest: 'edge-1-abc',
  syncMode: 'Pull',
  region: 'north',
};

const facts: CertificateRequestFacts = {
  name: 'edge-1-abc',
  username: 'system:bootstrap:abcdef',
  groups: [REGISTER],
  signerName: 'kubernetes.io/kube-apiserver-client',
  usages: ['client auth', 'digital signature'],
  commonName: 'asterism:agent:edge-1',
  organizations: ['asterism:agents', agentKeyGroup(KEY)],
  extras: [],
  publicKeyHash: KEY,
  digest: registrationDigest(spec),
  outcome: undefined,
};

interface Row {
  name: string;
  spec?: Partial<ClusterRegistration['spec']>;
  status?: ClusterRegistration['status'];
  /** `null`: there is none. */
  request?: Partial<CertificateRequestFacts> | string | null;
  sameName?: { id?: string; key?: string };
  sameId?: string;
  sameKey?: string;
  rules?: ApprovalRule[];
  expect: Pick<RegistrationDecision, 'verdict'> & { reason: string; by?: string; message?: RegExp };
}

function cluster(name: string, id: string, publicKeyHash: string | undefined): Cluster {
  return {
    apiVersion: 'asterism.dev/v1alpha1',
    kind: 'Cluster',
    metadata: { name },
    spec: { id, syncMode: 'Pull', connection: { type: 'Tunnel' }, ...(publicKeyHash ? { publicKeyHash } : {}) },
  };
}

function decide(row: Row): RegistrationDecision {
  const registration: ClusterRegistration = {
    apiVersion: 'asterism.dev/v1alpha1',
    kind: 'ClusterRegistration',
    metadata: { name: 'edge-1-abc' },
    spec: { ...spec, ...row.spec },
    ...(row.status ? { status: row.status } : {}),
  };
  const digest = registrationDigest(registration.spec);
  return decideRegistration({
    registration,
    request:
      row.request === null
        ? undefined
        : typeof row.request === 'string'
          ? row.request
          : { ...facts, digest, ...row.request },
    sameName: row.sameName && cluster('edge-1', row.sameName.id ?? 'id-1', row.sameName.key),
    sameId: row.sameId === undefined ? undefined : cluster(row.sameId, 'id-1', KEY),
    sameKey: row.sameKey === undefined ? undefined : cluster(row.sameKey, 'id-2', KEY),
    rules: row.rules ?? [],
  });
}

const wait = (reason: string) => ({ verdict: 'Wait' as const, reason });
const deny = (reason: string, message?: RegExp) => ({
  verdict: 'Deny' as const,
  reason,
  ...(message ? { message } : {}),
});
const byToken = { groups: [REGISTER, AUTO_APPROVE] };

const rule: ApprovalRule = {
  name: 'edges',
  tokenGroups: [REGISTER],
  namePattern: 'edge-*',
  setLabels: { tier: 'edge' },
};

const rows: Row[] = [
  { name: 'an ordinary token waits for a person', expect: wait('AwaitingApproval') },
  {
    name: 'a token that promises approval is believed on the word of the API server',
    request: byToken,
    expect: { verdict: 'Approve', reason: 'ApprovedByToken', by: 'system:bootstrap:abcdef' },
  },
  {
    name: 'a person approves',
    status: { decision: 'Approved', decidedBy: 'ann' },
    expect: { verdict: 'Approve', reason: 'ApprovedByPerson', by: 'ann' },
  },
  {
    name: 'a person denies, whatever the token promises',
    status: { decision: 'Denied', decidedBy: 'ann', message: 'not ours' },
    request: byToken,
    expect: deny('Denied', /not ours/),
  },
  { name: 'no certificate request: nothing to decide on', request: null, expect: wait('RequestMissing') },
  {
    name: 'a request that cannot be read',
    request: 'it holds no PEM block',
    status: { decision: 'Approved' },
    expect: deny('RequestMalformed', /no PEM/),
  },
  {
    name: 'a certificate for another cluster is refused although a person approved',
    request: { commonName: 'asterism:agent:edge-2' },
    status: { decision: 'Approved' },
    expect: deny('WrongSubject', /asterism:agent:edge-1/),
  },
  { name: 'a certificate for an administrator', request: { commonName: 'admin' }, expect: deny('WrongSubject') },
  {
    name: 'another group in the certificate',
    request: { organizations: [...facts.organizations, 'system:masters'] },
    expect: deny('WrongSubject', /system:masters/),
  },
  {
    name: 'the group of another key in the certificate',
    request: { organizations: ['asterism:agents', agentKeyGroup(OTHER_KEY)] },
    expect: deny('WrongSubject'),
  },
  { name: 'no key in the certificate', request: { organizations: ['asterism:agents'] }, expect: deny('WrongSubject') },
  { name: 'no group in the certificate', request: { organizations: [] }, expect: deny('WrongSubject') },
  { name: 'alternative names', request: { extras: ['2.5.29.17'] }, expect: deny('WrongSubject', /2\.5\.29\.17/) },
  { name: 'another signer', request: { signerName: 'kubernetes.io/kubelet-serving' }, expect: deny('WrongSigner') },
  { name: 'a server certificate', request: { usages: ['client auth', 'server auth'] }, expect: deny('WrongUsages') },
  { name: 'no client certificate', request: { usages: ['digital signature'] }, expect: deny('WrongUsages') },
  {
    name: 'the certificate request of another registration, whose token promises approval',
    request: { ...byToken, digest: registrationDigest({ ...spec, apiEndpoint: 'https://rogue:6443' }) },
    expect: deny('WrongRequest'),
  },
  { name: 'a certificate request of no registration', request: { digest: undefined }, expect: deny('WrongRequest') },
  {
    name: 'a token for another cluster',
    request: { groups: [...byToken.groups, 'system:bootstrappers:asterism:cluster:edge-2'] },
    expect: deny('WrongToken', /edge-2.*edge-1/),
  },
  {
    name: 'a token for this cluster',
    request: { groups: [...byToken.groups, 'system:bootstrappers:asterism:cluster:edge-1'] },
    expect: { verdict: 'Approve', reason: 'ApprovedByToken' },
  },
  {
    name: 'a label that is the hub’s own',
    spec: { labels: { 'asterism.dev/cluster': 'other' } },
    request: byToken,
    expect: deny('ReservedLabel', /asterism\.dev\/cluster/),
  },
  {
    name: 'labels of its own are welcome',
    spec: { labels: { team: 'a', 'notasterism.dev/x': 'y' } },
    request: byToken,
    expect: { verdict: 'Approve', reason: 'ApprovedByToken' },
  },
  { name: 'Push without an address', spec: { syncMode: 'Push' }, request: byToken, expect: deny('EndpointMissing') },
  {
    name: 'a name that another cluster bears, although a person approved',
    sameName: { id: 'id-2', key: KEY },
    status: { decision: 'Approved' },
    expect: deny('NameTaken', /id-2.*aster leave edge-1/),
  },
  {
    name: 'an id that is joined under another name',
    sameId: 'old',
    request: byToken,
    expect: deny('AlreadyJoined', /"old"/),
  },
  {
    name: 'a key that another cluster has, although a person approved',
    sameKey: 'twin',
    status: { decision: 'Approved' },
    expect: deny('KeyTaken', /"twin".*agent-credential/),
  },
  {
    name: 'a rule lets in whom it fits',
    rules: [rule],
    expect: { verdict: 'Approve', reason: 'ApprovedByRule', by: 'rule edges' },
  },
  { name: 'and nobody else', rules: [{ ...rule, namePattern: 'store-*' }], expect: wait('AwaitingApproval') },
  {
    name: 'no rule lets in a known id with another key',
    rules: [rule],
    sameName: { key: OTHER_KEY },
    expect: wait('KeyDiffers'),
  },
  {
    name: 'no rule lets in a reserved label',
    rules: [rule],
    spec: { labels: { 'asterism.dev/x': 'y' } },
    expect: deny('ReservedLabel'),
  },
  {
    name: 'a rule does not outdo a person',
    rules: [rule],
    status: { decision: 'Denied', decidedBy: 'ann', message: 'no' },
    expect: deny('Denied'),
  },
  {
    name: 'the same cluster again, with its key: let in without a person',
    sameName: { key: KEY },
    expect: { verdict: 'Approve', reason: 'SameKey' },
  },
  {
    name: 'a known id with another key waits for a person, whatever the token promises',
    sameName: { key: OTHER_KEY },
    request: byToken,
    expect: wait('KeyDiffers'),
  },
  {
    name: 'a cluster that was made by hand has no key yet: a person decides',
    sameName: {},
    request: byToken,
    expect: wait('KeyDiffers'),
  },
  {
    name: 'a person lets the new key in',
    sameName: { key: OTHER_KEY },
    status: { decision: 'Approved' },
    expect: { verdict: 'Approve', reason: 'ApprovedByPerson' },
  },
];

describe('decideRegistration', () => {
  for (const row of rows) {
    test(row.name, () => {
      const decision = decide(row);
      const { message, ...expected } = row.expect;
      assert.deepEqual({ ...decision, ...expected }, decision, JSON.stringify(decision));
      if (message) assert.match((decision as { message: string }).message, message);
      if (decision.verdict === 'Approve') assert.equal(decision.key, KEY);
      if (decision.verdict === 'Approve' && decision.reason === 'ApprovedByRule') {
        assert.deepEqual(decision.facts, { labels: { tier: 'edge' } });
      }
    });
  }
});
