import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import type { CommandStream, TerminalSize } from '@asterism/client';
import type { Screen, StandardStreams } from '../output/standard-streams.ts';
import { connectStreams } from './connect-streams.ts';

function setUp({ tty = false } = {}) {
  const exit = Promise.withResolvers<number>();
  const sizes: TerminalSize[] = [];
  const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()];
  const command: CommandStream = {
    protocol: 'test',
    stdin,
    stdout,
    stderr: tty ? undefined : stderr,
    resize: (size) => void sizes.push(size),
    exit: exit.promise,
    close: () => {},
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
  const state = { raw: false, following: false, size: { columns: 80, rows: 24 } };
  let changed = (): void => {};
  const screen: Screen = {
    size: () => state.size,
    onResize: (callback) => {
      changed = callback;
      state.following = true;
      return () => void (state.following = false);
    },
    makeRaw: () => {
      state.raw = true;
      return () => void (state.raw = false);
    },
  };
  const streams: StandardStreams & Record<'stdin' | 'stdout' | 'stderr', PassThrough> = {
    stdin: new PassThrough(),
    stdout: new PassThrough(),
    stderr: new PassThrough(),
    screen,
  };
  return { command, streams, exit, sizes, state, resize: () => changed(), stdin, stdout, stderr };
}

test('bytes and ends both ways; the code when all has been handed on', async () => {
  const { command, streams, exit, stdin, stdout, stderr } = setUp();
  const running = connectStreams(command, streams, { tty: false });
  streams.stdin.end('typed');
  assert.equal(await text(stdin), 'typed');
  exit.resolve(3);
  stdout.end('out');
  stderr.end('err');
  assert.equal(await running, 3);
  assert.deepEqual([String(streams.stdout.read()), String(streams.stderr.read())], ['out', 'err']);
  assert.ok(!streams.stdout.writableEnded, "the user's own streams stay open");
});

test('with a terminal: raw while it lasts, its size at once and at each change', async () => {
  const { command, streams, exit, sizes, state, resize, stdout } = setUp({ tty: true });
  const running = connectStreams(command, streams, { tty: true });
  assert.ok(state.raw);
  state.size = { columns: 132, rows: 43 };
  resize();
  assert.deepEqual(sizes, [
    { columns: 80, rows: 24 },
    { columns: 132, rows: 43 },
  ]);
  stdout.end();
  exit.resolve(0);
  await running;
  assert.deepEqual([state.raw, state.following], [false, false]);
});

test('a terminal is given back also where the connection is lost', async () => {
  const { command, streams, exit, state } = setUp({ tty: true });
  const running = connectStreams(command, streams, { tty: true });
  exit.reject(new Error('lost'));
  await assert.rejects(running, /lost/);
  assert.equal(state.raw, false);
});

test('without one asked for the screen is left alone', async () => {
  const { command, streams, exit, sizes, state, stdout, stderr } = setUp();
  const running = connectStreams(command, streams, { tty: false });
  assert.equal(state.raw, false);
  stdout.end();
  stderr.end();
  exit.resolve(0);
  await running;
  assert.deepEqual(sizes, []);
});

test('a command that reads no more does not hold up its end, nor is the rest of the input taken', async () => {
  const { command, streams, exit, stdin, stdout, stderr } = setUp();
  const running = connectStreams(command, streams, { tty: false });
  stdin.destroy();
  streams.stdin.write('more');
  stdout.end();
  stderr.end();
  exit.resolve(0);
  assert.equal(await running, 0);
  assert.ok(streams.stdin.isPaused());
});
