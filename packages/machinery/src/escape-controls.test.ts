import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { escapeControls, escapeLine, hasControls } from './escape-controls.ts';

const rows: [name: string, text: string, shown: string][] = [
  ['plain text', 'web-0 läuft 山 🚀', 'web-0 läuft 山 🚀'],
  ['newlines and tabs', 'a\n\tb', 'a\n\tb'],
  ['a colour', '\u001b[31mred\u001b[0m', '^[[31mred^[[0m'],
  ['a window title', '\u001b]0;owned\u0007', '^[]0;owned^G'],
  ['a C1 introducer', '\u009b31m', '\\u009b31m'],
  ['a C1 operating system command', '\u009d0;owned\u009c', '\\u009d0;owned\\u009c'],
  ['a carriage return', 'safe\rEVIL', 'safe^MEVIL'],
  ['a backspace', 'a\bb', 'a^Hb'],
  ['null, vertical tab, form feed, delete', '\0\v\f\u007f', '^@^K^L\\u007f'],
  ['an override of direction', 'a\u202egpj.exe', 'a\\u202egpj.exe'],
  ['isolates and marks', '\u2066\u2069\u200e\u200f\u061c', '\\u2066\\u2069\\u200e\\u200f\\u061c'],
  ['separators of lines', 'a\u2028b\u2029c\u0085d', 'a\\u2028b\\u2029c\\u0085d'],
  ['a byte order mark', '\ufeffa', '\\ufeffa'],
  ['tags', '\u{e0041}', '\\udb40\\udc41'],
  ['joined emoji', '👩\u200d💻', '👩\u200d💻'],
];

describe('text for a terminal', () => {
  for (const [name, text, shown] of rows) {
    test(name, () => {
      assert.equal(escapeControls(text), shown);
      assert.equal(escapeControls(shown), shown, 'what is escaped stays');
      assert.equal(hasControls(text), text !== shown);
    });
  }

  test('JSON keeps its meaning', () => {
    const value = { key: rows.map(([, text]) => text).join('') + '\u{e0001}' };
    const text = JSON.stringify(value, null, 2);
    assert.deepEqual(JSON.parse(escapeControls(text)), value);
    assert.ok(!hasControls(escapeControls(text)));
  });

  test('a line stays one line', () => assert.equal(escapeLine('a\n\tb\u001b'), 'a\\n\\tb^['));

  test('every C0, C1 and DEL is escaped', () => {
    const codes = [...Array(32).keys(), ...Array.from({ length: 33 }, (_, index) => 0x7f + index)];
    for (const code of codes) {
      const character = String.fromCharCode(code);
      if (character !== '\n' && character !== '\t') assert.notEqual(escapeControls(character), character, String(code));
    }
  });
});
