import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CommandError, EXIT } from '../exit-code.ts';
import { parseUpOptions, type UpFlags } from './up-options.ts';

test('the one store there is may be named', () => {
  assert.equal(parseUpOptions({ searchStore: 'sqlite' }).members, 3);
});

const faults: [name: string, flags: UpFlags, message: RegExp][] = [
  ['a data dir without a name', { dataDir: '' }, /--data-dir: it is empty/],
  ['no port', { listen: 'localhost' }, /--listen: "localhost" is not HOST:PORT/],
  ['a port that is none', { listen: 'localhost:70000' }, /--listen/],
  ['half a member', { members: '1.5' }, /--members: "1.5"/],
  ['fewer than no members', { members: '-1' }, /--members/],
  ['a demo with nowhere to go', { members: '1', demo: true }, /--demo places over two members/],
  [
    'a store that is not there, its password unsaid',
    { searchStore: 'postgres://u:secret@h/d' },
    /^(?!.*secret).*postgres:\/\/…@h/,
  ],
];

for (const [name, flags, message] of faults) {
  test(`refused as wrong usage: ${name}`, () => {
    assert.throws(
      () => parseUpOptions(flags),
      (error: unknown) => error instanceof CommandError && error.exitCode === EXIT.usage && message.test(error.message),
    );
  });
}
