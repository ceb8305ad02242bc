import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { systemClock } from '@asterism/client';
import { ContainerLog } from './container-log.ts';
import type { LogOptions } from './container-runtime.ts';

const START = Date.UTC(2026, 0, 2, 3, 4, 5);

/** Lines `0`…`9`, one a second; the odd ones are on standard error. */
function tenSeconds(): ContainerLog {
  let now = START;
  const log = new ContainerLog({ ...systemClock, wall: () => new Date(now) });
  for (let index = 0; index < 10; index += 1) {
    log.sink(index % 2 === 0 ? 'Stdout' : 'Stderr').put(Buffer.from(`${index}\n`));
    now += 1000;
  }
  return log;
}

function read(log: ContainerLog, options: Partial<LogOptions> = {}): Promise<string> {
  const signal = new AbortController().signal;
  return text(Readable.from(log.read({ follow: false, previous: false, timestamps: false, ...options }, signal)));
}

const rows: [name: string, options: Partial<LogOptions>, lines: string][] = [
  ['all', {}, '0 1 2 3 4 5 6 7 8 9 '],
  ['the last', { tailLines: 2 }, '8 9 '],
  ['none', { tailLines: 0 }, ''],
  ['more than there are', { tailLines: 100 }, '0 1 2 3 4 5 6 7 8 9 '],
  ['the last of one stream', { tailLines: 2, stream: 'Stderr' }, '7 9 '],
  ['one stream', { stream: 'Stdout' }, '0 2 4 6 8 '],
  ['some bytes', { limitBytes: 5 }, '0 1 2'],
  ['since some seconds', { sinceSeconds: 3 }, '7 8 9 '],
  ['since a time', { sinceTime: '2026-01-02T03:04:13Z' }, '8 9 '],
  ['the last of what is recent', { sinceSeconds: 3, tailLines: 5 }, '7 8 9 '],
  ['with times', { tailLines: 1, timestamps: true }, '2026-01-02T03:04:14.000000000Z 9 '],
];

for (const [name, options, lines] of rows) {
  test(`log: ${name}`, async () => {
    assert.equal((await read(tenSeconds(), options)).replaceAll('\n', ' '), lines);
  });
}

test('log: what has no end of a line is there when the container is gone', async () => {
  const log = new ContainerLog(systemClock);
  log.sink('Stdout').put(Buffer.from('a\nb'));
  assert.equal(await read(log), 'a\n');
  log.end();
  assert.equal(await read(log), 'a\nb');
});

test('log: it is bounded, the oldest lines go, and a reader that stopped goes on at what is left', async () => {
  const log = new ContainerLog(systemClock, 100_000);
  const sink = log.sink('Stdout');
  sink.put(Buffer.from('first\n'));
  const reader = log.read({ follow: true, previous: false, timestamps: false }, new AbortController().signal);
  assert.equal(Buffer.from((await reader.next()).value ?? []).toString(), 'first\n');
  for (let index = 0; index < 20_000; index += 1) sink.put(Buffer.from(`line ${index}\n`));
  log.end();
  const rest: string[] = [];
  for await (const chunk of reader) rest.push(Buffer.from(chunk).toString());
  const lines = rest.join('').trim().split('\n');
  assert.equal(lines.at(-1), 'line 19999');
  assert.ok(lines.length > 500 && lines.length < 3000, `${lines.length} lines`);
});

test('log: a follower ends with the abort', async () => {
  const log = tenSeconds();
  const abort = new AbortController();
  const reader = log.read({ follow: true, previous: false, timestamps: false }, abort.signal);
  await reader.next();
  const next = reader.next();
  abort.abort();
  assert.equal((await next).done, true);
});

test('log: a long line comes whole', async () => {
  const log = new ContainerLog(systemClock);
  const line = `${'x'.repeat(100_000)}\n`;
  for (const part of line.match(/.{1,7000}\n?/gs) ?? []) log.sink('Stdout').put(Buffer.from(part));
  assert.equal(await read(log), line);
});
