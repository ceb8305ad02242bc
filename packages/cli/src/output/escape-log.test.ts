import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { escapeLog } from './escape-log.ts';

async function shown(...pieces: Uint8Array[]): Promise<string> {
  const texts = await Array.fromAsync(
    escapeLog(
      (async function* () {
        yield* pieces;
      })(),
    ),
  );
  return texts.join('');
}

const rows: [name: string, bytes: Buffer, text: string][] = [
  ['plain lines', Buffer.from('läuft 山\n'), 'läuft 山\n'],
  ['a colour', Buffer.from('\u001b[31mred\n'), '^[[31mred\n'],
  ['C1 in UTF-8', Buffer.from('\u009b31m'), '\\u009b31m'],
  ['C1 as a byte, which is not UTF-8', Buffer.of(0x9b, 0x33, 0x31, 0x6d), '\ufffd31m'],
  ['a character that never ends', Buffer.of(0x61, 0xe2, 0x82), 'a\ufffd'],
  ['a line that ends with CR LF', Buffer.from('a\r\nb\r\n'), 'a\nb\n'],
  ['a line that is written over', Buffer.from('safe\rEVIL\n'), 'safe^MEVIL\n'],
  ['a CR at the end', Buffer.from('a\r'), 'a^M'],
  ['an override of direction', Buffer.from('\u202e'), '\\u202e'],
  ['a tag', Buffer.from('\u{e0041}'), '\\udb40\\udc41'],
];

describe('a log on a screen', () => {
  for (const [name, bytes, text] of rows) {
    test(`${name}, however it is cut`, async () => {
      assert.equal(await shown(bytes), text);
      assert.equal(await shown(...Array.from(bytes, (byte) => Uint8Array.of(byte))), text);
    });
  }
});
