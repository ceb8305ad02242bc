import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CommandError, EXIT } from '../exit-code.ts';
import { type AgentFlags, parseAgentFlags } from './agent-options.ts';

const PIN = `sha256:${'0a'.repeat(32)}`;
const FLAGS: AgentFlags = { name: 'edge-1', mode: 'Pull', hub: 'https://hub:7443/', hubCa: PIN };

const destination = (url: string): AgentFlags => ({ ...FLAGS, allowDestination: [url] });

test('what an agent is told', () => {
  const parsed = parseAgentFlags({
    ...FLAGS,
    reach: 'readonly',
    allowDestination: ['https://Registry.corp', 'http://10.0.0.7:8080/'],
    destinationCa: 'pki/corp.crt',
    endpoint: 'https://[::1]:6443',
    endpointCa: 'pki/edge.crt',
    provider: 'acme',
    region: 'eu',
    zones: 'eu-a, eu-b',
    labels: 'tier=edge,example.org/team=,a.b_c=D-1',
  });
  assert.deepEqual(parsed, {
    clusterName: 'edge-1',
    syncMode: 'Pull',
    reachMode: 'readonly',
    destinations: ['https://registry.corp:443', 'http://10.0.0.7:8080'],
    destinationCa: 'pki/corp.crt',
    hubServer: 'https://hub:7443',
    hubCa: { pin: PIN },
    endpoint: 'https://[::1]:6443',
    endpointCa: 'pki/edge.crt',
    description: {
      provider: 'acme',
      region: 'eu',
      zones: ['eu-a', 'eu-b'],
      labels: { tier: 'edge', 'example.org/team': '', 'a.b_c': 'D-1' },
    },
  });
});

test('a pin may be written in capitals; all else is a file', () => {
  assert.deepEqual(parseAgentFlags({ ...FLAGS, hubCa: PIN.toUpperCase() }).hubCa, { pin: PIN });
  assert.deepEqual(parseAgentFlags({ ...FLAGS, hubCa: 'pki/ca.crt' }).hubCa, { file: 'pki/ca.crt' });
});

const faults: [name: string, flags: AgentFlags, message: RegExp][] = [
  ['nothing at all', {}, /^--name, --mode, --hub, --hub-ca must be given/],
  ['no way to know the hub', { ...FLAGS, hubCa: undefined } as unknown as AgentFlags, /^--hub-ca must be given/],
  ['a name with capitals', { ...FLAGS, name: 'Edge' }, /--name: "Edge"/],
  ['a name whose namespace would be too long', { ...FLAGS, name: 'a'.repeat(47) }, /--name: .*at most 46/],
  ['a hub without TLS', { ...FLAGS, hub: 'http://hub:7443' }, /--hub: "http:\/\/hub:7443" is not https:/],
  ['a hub without a scheme', { ...FLAGS, hub: 'hub:7443' }, /--hub/],
  ['a password, which is not repeated', { ...FLAGS, hub: 'https://me:secret@hub' }, /^(?!.*secret)--hub: it is not/],
  ['a password without a user', { ...FLAGS, hub: 'https://:secret@hub' }, /^(?!.*secret)--hub: it is not/],
  ['a password in no address', { ...FLAGS, hub: 'https://me:secret@hub:99999' }, /^(?!.*secret)--hub: it is not/],
  ['an authority of no endpoint', { ...FLAGS, endpointCa: 'ca.crt' }, /--endpoint-ca: says nothing without --endpoint/],
  ['a guard where no call passes', { ...FLAGS, mode: 'Push', reach: 'off' }, /--reach: says nothing with --mode push/],
  ['a destination with a path', destination('https://a:1/b'), /--allow-destination: "https:\/\/a:1\/b" has a path/],
  ['a destination with a password', destination('https://a:secret@b'), /^(?!.*secret)--allow-destination: .*no user/],
  ['a destination of no known scheme', destination('tcp://a:1'), /--allow-destination: "tcp:\/\/a:1" is not https:/],
  ['a destination without a scheme', destination('a:1'), /--allow-destination: "a:1" is not https:/],
  ['destinations by a pattern', destination('https://*.corp'), /--allow-destination: .* is a pattern: .*one by one/],
  [
    'a destination where no call passes',
    { ...destination('https://a'), mode: 'Push' },
    /--allow-destination: says nothing with --mode push/,
  ],
  [
    'an authority of no destination',
    { ...destination('http://a'), destinationCa: 'ca.crt' },
    /--destination-ca: says nothing without --allow-destination https:/,
  ],
  ['half a pin', { ...FLAGS, hubCa: 'sha256:0a0a' }, /--hub-ca: "sha256:0a0a" is no pin/],
  ['an endpoint that is none', { ...FLAGS, endpoint: 'edge' }, /--endpoint: "edge"/],
  ['an empty zone', { ...FLAGS, zones: 'a,,b' }, /--zones: "a,,b"/],
  ['a label without a value', { ...FLAGS, labels: 'tier' }, /--labels: "tier"/],
  ['a label with two slashes', { ...FLAGS, labels: 'a/b/c=d' }, /--labels: "a\/b\/c=d"/],
  ['a label value that is none', { ...FLAGS, labels: 'tier=-x' }, /--labels: "tier=-x"/],
  ['a label twice', { ...FLAGS, labels: 'a=1,a=2' }, /--labels: "a" is there twice/],
];

for (const [name, flags, message] of faults) {
  test(`refused as wrong usage: ${name}`, () => {
    assert.throws(
      () => parseAgentFlags(flags),
      (error: unknown) => error instanceof CommandError && error.exitCode === EXIT.usage && message.test(error.message),
    );
  });
}
