import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type Cluster, type ClusterRegistration, CREDENTIAL_ANNOTATION, GIVEN_CREDENTIAL } from '../../api/index.ts';
import type { Refusal } from '../../reach/refusal.ts';
import { type ClusterFacts, diagnoseCluster } from './diagnose-cluster.ts';

const NOW = Date.parse('2026-11-21T12:00:00Z');

interface Parts {
  ready?: { status: 'True' | 'False' | 'Unknown'; message?: string };
  certificate?: { status: 'True' | 'False'; message: string };
  taint?: string;
  key?: string | undefined;
  agentVersion?: string;
  direct?: boolean;
  leaving?: boolean;
  permissions?: NonNullable<Cluster['status']>['permissions'];
  kubernetesVersion?: string;
  given?: boolean;
}

function cluster(parts: Parts = {}): Cluster {
  const { ready = { status: 'True', message: 'ready' }, certificate, taint, direct = false, leaving } = parts;
  const key = 'key' in parts ? parts.key : `sha256:${'0'.repeat(64)}`;
  const condition = (type: string, told: { status: string; message?: string }) => ({
    type,
    reason: 'X',
    lastTransitionTime: '2026-11-21T11:00:00Z',
    message: '',
    ...told,
  });
  return {
    apiVersion: 'asterism.dev/v1alpha1',
    kind: 'Cluster',
    metadata: {
      name: 'edge-1',
      ...(parts.given ? { annotations: { [CREDENTIAL_ANNOTATION]: GIVEN_CREDENTIAL } } : {}),
      ...(leaving ? { deletionTimestamp: '2026-11-21T11:59:00Z', finalizers: ['asterism.dev/leave'] } : {}),
    },
    spec: {
      id: 'x',
      syncMode: direct ? 'Push' : 'Pull',
      connection: direct ? { type: 'Direct', apiEndpoint: 'https://edge:6443' } : { type: 'Tunnel' },
      ...(key === undefined ? {} : { publicKeyHash: key }),
      ...(taint ? { taints: [{ key: taint, effect: 'NoSchedule' }] } : {}),
    },
    status: {
      agentVersion: parts.agentVersion ?? '0.1.0',
      ...(parts.kubernetesVersion ? { kubernetesVersion: parts.kubernetesVersion } : {}),
      ...(parts.permissions ? { permissions: parts.permissions } : {}),
      conditions: [condition('Ready', ready), ...(certificate ? [condition('CertificateCurrent', certificate)] : [])],
    },
  } as Cluster;
}

function complaints(parts: Parts, facts: Partial<ClusterFacts> = {}): string[] {
  const found = diagnoseCluster({
    cluster: cluster(parts),
    renewed: NOW - 4_000,
    now: NOW,
    registrations: [],
    probe: { answered: true, roundTripMs: 3.4 },
    failing: [],
    version: 'v0.1.0',
    ...facts,
  });
  assert.ok(
    found.every(({ state, remedy }) => state !== 'Fault' || remedy),
    'a fault says what to do',
  );
  return found
    .filter(({ state }) => state !== 'Fine')
    .map(({ state, check, message, remedy }) => `${state} ${check}: ${message} -> ${remedy}`);
}

const UNKNOWN = { ready: { status: 'Unknown', message: 'silent' }, taint: 'asterism.dev/unreachable' } as const;
const no = (refusal: Refusal | undefined, message: string) => ({
  probe: { answered: false as const, refusal, message },
  failing: undefined,
});

describe('what is wrong with a cluster', () => {
  const rows: [name: string, parts: Parts, facts: Partial<ClusterFacts>, wanted: RegExp[]][] = [
    ['nothing', { certificate: { status: 'True', message: 'good until 2027' } }, {}, []],
    ['nothing, without an agent', { direct: true, key: undefined }, {}, []],
    ['an account with its profile', { permissions: { profile: 'workloads', namespaces: ['shop'] } }, {}, []],
    [
      'an account that may do more than its profile',
      { permissions: { profile: 'workloads', namespaces: ['shop'], excess: ['create pods in kube-system'] } },
      {},
      [
        /^Fault permissions: .*more than the profile workloads includes: create pods in kube-system -> .*--permissions workloads/,
      ],
    ],
    [
      'a caller that a member with the profile workloads does not name',
      { permissions: { profile: 'workloads', namespaces: ['shop'] } },
      no('CannotImpersonate', 'no impersonation'),
      [/^Remark way in: it may not be tried: no impersonation -> .*--permissions workloads --callers NAME/],
    ],
    [
      'an account that may do less than its profile',
      { permissions: { profile: 'platform', missing: ['escalate clusterroles'] } },
      {},
      [
        /^Fault permissions: its account lacks rights of the profile platform: escalate clusterroles -> .*--permissions platform/,
      ],
    ],
    [
      'roles of an earlier release',
      { kubernetesVersion: 'v1.36.0' },
      {},
      [
        /^Remark permissions: an earlier release joined it: .* -> join .*"edge-1" again \(Pull\): aster join --permissions platform$/,
      ],
    ],
    [
      'roles of an earlier release, without an agent',
      { kubernetesVersion: 'v1.36.0', direct: true, key: undefined },
      {},
      [/^Remark permissions: .* -> .*: aster join --push --name edge-1 --permissions platform$/],
    ],
    [
      'no roles where an administrator gave the credential',
      { kubernetesVersion: 'v1.36.0', direct: true, key: undefined, given: true },
      {},
      [],
    ],
    [
      'a silent agent is told once, and not what follows from it',
      UNKNOWN,
      { renewed: NOW - 600_000, ...no(undefined, 'no tunnel') },
      [
        /^Fault heartbeat: not heard of since 10 min ago: its agent, the cluster, or the way .* -> there: kubectl .* logs/,
      ],
    ],
    [
      'a silent member without an agent',
      { ...UNKNOWN, direct: true, key: undefined },
      { renewed: NOW - 600_000, ...no(undefined, 'refused') },
      [/^Fault heartbeat: .* the API server at https:\/\/edge:6443 does not answer the hub/],
    ],
    ['an agent that was never heard of', UNKNOWN, { renewed: undefined }, [/^Fault heartbeat: not heard of: /]],
    [
      'a clock behind, of a cluster that is alive',
      {},
      { renewed: NOW - 3_600_000 },
      [/^Fault clock: its agent's clock is 60 min behind the hub's -> set the clock/],
    ],
    ['a clock ahead', {}, { renewed: NOW + 120_000 }, [/^Fault clock: its agent's clock is 2 min ahead/]],
    [
      'an API server that is not ready',
      { ready: { status: 'False', message: 'not ready' }, taint: 'asterism.dev/not-ready' },
      { failing: ['etcd'] },
      [/^Fault ready: not ready: failing are etcd; nothing new is placed there -> look at that API server/],
    ],
    [
      'a certificate that cannot be renewed',
      { certificate: { status: 'False', message: 'it ends at noon' } },
      {},
      [/^Fault certificate: it ends at noon -> see the log of the agent/],
    ],
    [
      'no agent',
      { key: undefined },
      {},
      [/^Fault registration: no agent is bound to it: .* -> join it: aster token create/],
    ],
    [
      'a tunnel that is down',
      {},
      no(undefined, 'no tunnel'),
      [/^Fault way in: no way through its tunnel: no tunnel -> see the log/],
    ],
    [
      'an address that does not answer',
      { direct: true },
      no(undefined, 'ECONNREFUSED'),
      [/^Fault way in: https:\/\/edge:6443 does not answer/],
    ],
    [
      'rights of impersonation that are missing',
      {},
      no('CannotImpersonate', 'not yet'),
      [/^Fault impersonation: .*: not yet -> apply the manifests there again: aster agent manifests --mode pull$/],
    ],
    [
      'the same, without an agent',
      { direct: true, key: undefined },
      no('CannotImpersonate', 'not yet'),
      [/^Fault impersonation: .*: not yet -> join it again: aster join --push --name edge-1$/],
    ],
    [
      'a mode that lets nobody in',
      {},
      no('ReachMode', 'off'),
      [/^Remark way in: it may not be tried: off -> .*set spec\.reach\.mode of Cluster "edge-1" in the hub$/],
    ],
    [
      'an agent that lets nobody in',
      {},
      no('AgentRefused', 'no'),
      [/^Remark way in: it may not be tried: no -> .*its agent in with another --reach/],
    ],
    [
      'a user of the hub’s own',
      {},
      no('SystemUser', 'no'),
      [/^Remark way in: it may not be tried: no -> ask as somebody whose name does not begin with system:/],
    ],
    [
      'who may not come in',
      {},
      no('HubForbids', 'no'),
      [/^Remark way in: it may not be tried: no -> get clusters\.proxy\.\S+ of "edge-1" allowed in the hub$/],
    ],
    [
      'whom the member lets nothing see',
      {},
      no('MemberForbids', 'no'),
      [/^Remark way in: it may not be tried: no -> get \S+ \/version allowed by the RBAC of "edge-1" itself$/],
    ],
    ['an older agent', { agentVersion: '0.0.9' }, {}, [/^Remark agent: its agent is version 0\.0\.9, aster v0\.1\.0/]],
    [
      'a cluster that leaves',
      { leaving: true },
      {},
      [/^Remark leaving: it leaves the fleet: .* -> aster leave edge-1 tells/],
    ],
  ];
  for (const [name, parts, facts, wanted] of rows) {
    test(name, () => {
      const found = complaints(parts, facts);
      assert.equal(found.length, wanted.length, found.join('\n'));
      wanted.forEach((pattern, index) => assert.match(found[index] ?? '', pattern));
    });
  }

  test('somebody asks to join by its name again', () => {
    const registration = {
      metadata: { name: 'edge-1-x' },
      spec: { clusterName: 'edge-1' },
      status: { message: 'KeyDiffers' },
    };
    const [found = ''] = complaints({}, { registrations: [registration as ClusterRegistration] });
    assert.match(found, /^Remark registration: somebody asks to join as "edge-1" again \(edge-1-x\): KeyDiffers/);
  });
});
