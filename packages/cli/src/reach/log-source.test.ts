import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CommandError } from '../exit-code.ts';
import { type LogFlags, logQuery } from './log-source.ts';
import { prefixLines } from './prefix-lines.ts';

const queries: [flags: LogFlags, tail: number | undefined, query: string | undefined][] = [
  [{}, undefined, ''],
  [{}, 10, 'tailLines=10'],
  [{ tail: '-1' }, 10, ''],
  [{ tail: '0' }, undefined, 'tailLines=0'],
  [{ follow: true, previous: true, timestamps: true }, undefined, 'follow=true&previous=true&timestamps=true'],
  [{ since: '1h30m' }, undefined, 'sinceSeconds=5400'],
  [{ since: '100ms' }, undefined, 'sinceSeconds=1'],
  [{ sinceTime: '2026-01-31T12:00:00Z' }, undefined, 'sinceTime=2026-01-31T12%3A00%3A00Z'],
  [{ tail: 'x' }, undefined, undefined],
  [{ tail: '-2' }, undefined, undefined],
  [{ since: '5' }, undefined, undefined],
  [{ since: '-5m' }, undefined, undefined],
  [{ since: '0s' }, undefined, undefined],
  [{ sinceTime: 'yesterday' }, undefined, undefined],
  [{ since: '5m', sinceTime: '2026-01-31T12:00:00Z' }, undefined, undefined],
];
for (const [flags, tail, query] of queries) {
  test(`the query of a log: ${JSON.stringify(flags)}, ${tail ?? 'all'}`, () => {
    if (query === undefined) assert.throws(() => logQuery(flags, tail), CommandError);
    else assert.equal(logQuery(flags, tail).toString(), query);
  });
}

async function* pieces(...texts: string[]): AsyncIterable<Buffer> {
  for (const text of texts) yield Buffer.from(text);
}

const lines: [name: string, texts: string[], expected: string[]][] = [
  ['in one piece', ['one\ntwo\n'], ['> one\n> two\n']],
  ['in any pieces', ['on', 'e\nt', 'w', 'o\n\n'], ['> one\n', '> two\n> \n']],
  ['without a last end', ['one\ntwo'], ['> one\n', '> two\n']],
  ['none', [], []],
];
for (const [name, texts, expected] of lines) {
  test(`lines behind a prefix: ${name}`, async () => {
    const got: string[] = [];
    for await (const piece of prefixLines(pieces(...texts), '> ')) got.push(String(piece));
    assert.deepEqual(got, expected);
  });
}
