import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CommandError, EXIT } from '../exit-code.ts';
import { defaultImage, type JoinFlags, parseJoinFlags, parseTimeout } from './join-options.ts';

const PIN = `sha256:${'0a'.repeat(32)}`;
const FLAGS: JoinFlags = { name: 'edge-1', hub: 'https://hub:7443/', caHash: PIN };

test('what a join is told, and what holds where it is told nothing', () => {
  const { hubServer, hubCa, syncMode, image, timeoutMs, hostNetwork } = parseJoinFlags(FLAGS);
  assert.deepEqual(
    [hubServer, hubCa, syncMode, image, timeoutMs, hostNetwork],
    ['https://hub:7443', { pin: PIN }, 'Pull', defaultImage(), 300_000, false],
  );
  assert.deepEqual(parseJoinFlags({ ...FLAGS, caHash: undefined, hubCa: 'ca.crt' } as JoinFlags).hubCa, {
    file: 'ca.crt',
  });
});

const WRONG: [name: string, change: object, message: RegExp][] = [
  [
    'nothing',
    { name: undefined, hub: undefined, caHash: undefined },
    /^--name, --hub, --ca-hash must be given: `aster/,
  ],
  ['a file as a pin', { caHash: 'ca.crt' }, /^--ca-hash: "ca\.crt" is no pin, .* goes to --hub-ca$/],
  ['a pin that is none', { caHash: 'sha256:0a' }, /^--ca-hash: "sha256:0a" is no pin/],
  ['both', { hubCa: 'ca.crt' }, /^--ca-hash, --hub-ca: one of them is enough$/],
  ['http', { hub: 'http://hub' }, /^--hub: "http:\/\/hub" is not https/],
  ['a name', { name: 'Edge' }, /^--name: "Edge" is no name of a cluster/],
  ['a destination', { allowDestination: ['https://a/b'] }, /^--allow-destination: "https:\/\/a\/b" has a path/],
  ['a destination in push', { mode: 'Push', allowDestination: ['https://a'] }, /^--allow-destination: says nothing/],
  ['a cap in push', { mode: 'Push', reach: 'off' }, /^--reach: says nothing with --mode push: .*spec\.reach\.mode/],
  ['a proxy', { proxy: 'hub:3128' }, /^--proxy: not http:/],
  ['a CA of nothing', { endpointCa: 'ca.crt' }, /^--endpoint-ca: says nothing without --endpoint$/],
  ['a flag of --push', { hubKubeconfig: 'hub' }, /^--hub-kubeconfig: says nothing without --push$/],
  [
    'another flag of an agent',
    { push: true, caHash: undefined, hub: undefined, allowDestination: ['https://a'] },
    /^--allow-destination: says nothing with --push/,
  ],
  [
    'a cap where no agent is',
    { push: true, caHash: undefined, hub: undefined, reach: 'off' },
    /^--reach: says nothing with --push, which joins without an agent$/,
  ],
  ['a flag of an agent', { push: true }, /^--ca-hash: says nothing with --push, which joins without an agent$/],
];
for (const [name, change, message] of WRONG) {
  test(`wrong usage: ${name}`, () => {
    assert.throws(
      () => parseJoinFlags({ ...FLAGS, ...change }),
      (error) => error instanceof CommandError && error.exitCode === EXIT.usage && message.test(error.message),
    );
  });
}

test('times', () => {
  assert.deepEqual(['30s', '5m', '1h'].map(parseTimeout), [30_000, 300_000, 3_600_000]);
  assert.throws(() => parseTimeout('5'), /^CommandError: --timeout: "5" is not a time/);
});
