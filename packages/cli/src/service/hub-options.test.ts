import assert from 'node:assert/strict';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { CommandError, EXIT } from '../exit-code.ts';
import { type HubFlags, parseHubFlags } from './hub-options.ts';

test('an API server of its own', () => {
  assert.deepEqual(parseHubFlags({ advertise: 'hub.example.org' }), {
    form: 'embedded',
    dataDir: join(homedir(), '.asterism'),
    listen: { host: '127.0.0.1', port: 7443 },
    advertise: { host: 'hub.example.org' },
    status: undefined,
    signingDurationMs: 365 * 24 * 60 * 60 * 1000,
    reachLimits: {},
  });
});

test('an existing kube-apiserver; its data is not that of `aster up`', () => {
  const flags: HubFlags = {
    kubeconfig: 'host.kubeconfig',
    listen: ':0',
    advertise: '10.0.0.7:443',
    statusListen: '8080',
    serve: 'all',
    replicaListen: ':7444',
    replicaAdvertise: '10.0.0.7',
    reachCallsPerCaller: '20',
  };
  assert.deepEqual(parseHubFlags(flags), {
    form: 'kubernetes',
    kubeconfig: 'host.kubeconfig',
    context: undefined,
    templates: 'host',
    dataDir: join(homedir(), '.asterism', 'hub'),
    listen: { host: '0.0.0.0', port: 0 },
    advertise: { host: '10.0.0.7', port: 443 },
    status: { host: '127.0.0.1', port: 8080 },
    serve: 'all',
    replica: { listen: { host: '0.0.0.0', port: 7444 }, advertise: { host: '10.0.0.7' } },
    reachLimits: { perCaller: 20 },
  });
});

const faults: [name: string, flags: HubFlags, message: RegExp][] = [
  ['a data dir without a name', { dataDir: '' }, /--data-dir: it is empty/],
  ['a context of no kubeconfig', { context: 'a' }, /--context: says nothing without --kubeconfig/],
  ['processes that share no kube-apiserver', { serve: 'all' }, /--serve: says nothing without --kubeconfig/],
  [
    'links that listen nowhere',
    { kubeconfig: 'host', replicaListen: 'here' },
    /--replica-listen: "here" is not HOST:PORT/,
  ],
  ['no call at all', { reachCallsPerCluster: '0' }, /--reach-calls-per-cluster: "0" is not a whole number from 1 on/],
  ['templates of no kubeconfig', { templates: 'embedded' }, /--templates: says nothing without --kubeconfig/],
  [
    'a provider of a kube-apiserver',
    { kubeconfig: 'a', oidcGroupsClaim: 'g' },
    /^--oidc-groups-claim: with --kubeconfig that kube-apiserver says who people are/,
  ],
  ['a certificate of seconds', { clusterSigningDuration: '59s' }, /--cluster-signing-duration: 59s is too short: 1m/],
  ['a certificate of years', { clusterSigningDuration: '366d' }, /--cluster-signing-duration: 366d is too long: 365d/],
  [
    'certificates of another signer',
    { kubeconfig: 'a', clusterSigningDuration: '1h' },
    /^--cluster-signing-duration: with --kubeconfig that cluster's kube-controller-manager signs/,
  ],
  ['another port than the one it listens on', { advertise: 'hub:443' }, /--advertise: .*name the host alone, hub/],
];

for (const [name, flags, message] of faults) {
  test(`refused as wrong usage: ${name}`, () => {
    assert.throws(
      () => parseHubFlags(flags),
      (error: unknown) => error instanceof CommandError && error.exitCode === EXIT.usage && message.test(error.message),
    );
  });
}
