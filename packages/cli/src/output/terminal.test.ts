import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { displayWidth } from './columns.ts';
import { createTerminal } from './terminal.ts';

function recorded(coloured: boolean) {
  const written = { out: '', err: '' };
  const terminal = createTerminal({
    out: (text) => void (written.out += text),
    err: (text) => void (written.err += text),
    interactive: coloured,
    coloured,
    width: () => 80,
  });
  return { terminal, written };
}

const HOSTILE = 'a\u001b[31m\u001b]0;t\u0007\u009b2J\r\b\u202eb';
const SHOWN = 'a^[[31m^[]0;t^G\\u009b2J^M^H\\u202eb';

describe('a terminal', () => {
  for (const coloured of [true, false]) {
    test(`escapes what others wrote, ${coloured ? 'on a screen' : 'elsewhere'}`, () => {
      const { terminal, written } = recorded(coloured);
      terminal.out(`${HOSTILE}\n`);
      terminal.err(HOSTILE);
      assert.deepEqual(written, { out: `${SHOWN}\n`, err: SHOWN });
    });
  }

  test('keeps its own styles and sequences, around what others wrote', () => {
    const { terminal, written } = recorded(true);
    terminal.err(`${terminal.sequence('2K')}${terminal.style('green', HOSTILE)}\n`);
    assert.equal(written.err, `\u001b[2K\u001b[32m${SHOWN}\u001b[39m\n`);
  });

  test('takes no sequence of another terminal for its own', () => {
    const { terminal, written } = recorded(true);
    terminal.out(recorded(true).terminal.style('red', 'x'));
    assert.match(written.out, /^\^\[\[\d+;31mx\^\[\[\d+;39m$/);
  });

  test('styles nothing where there are no colours', () => {
    assert.equal(recorded(false).terminal.style('red', 'x'), 'x');
  });

  test('styles take no room', () => assert.equal(displayWidth(recorded(true).terminal.style('bold', 'abc')), 3));
});
