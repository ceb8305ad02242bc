import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type Duplex, duplexPair } from 'node:stream';
import { test } from 'node:test';
import { until } from '@asterism/client/testing';
import { DEFAULT_LIMITS, type TunnelLimits } from '../limits.ts';
import { FrameType, formatFrame, formatFrameHeader, formatHello, formatTextFrame, LAST, Reset } from './frame.ts';
import { FrameSession } from './frame-session.ts';
import type { FrameStream, FrameStreamListener } from './frame-stream.ts';

const BUFFERS = { count() {} };

/** Keeps what a stream tells. */
class Told implements FrameStreamListener {
  readonly events: string[] = [];
  bytes = 0;
  onHead(lines: string[], last: boolean): void {
    this.events.push(`head ${lines.join('|')}${last ? ' last' : ''}`);
  }
  onPause(): void {
    this.events.push('pause');
  }
  onData(piece: Buffer, last: boolean): void {
    this.bytes += piece.length;
    if (last) this.events.push('end');
  }
  onWritable(): void {
    this.events.push('writable');
  }
  onEnded(): void {
    this.events.push('ended');
  }
  onClose(code: number): void {
    this.events.push(`close ${code}`);
  }
}

/** A hub and an agent on a pair of streams; every call that comes is in `calls`. */
async function startPair(limits: Partial<TunnelLimits> = {}) {
  const [one, other] = duplexPair();
  const all = { ...DEFAULT_LIMITS, ...limits };
  const hub = new FrameSession(one, all, { opens: true, buffers: BUFFERS });
  const agent = new FrameSession(other, all, { opens: false, buffers: BUFFERS });
  const calls: { stream: FrameStream; told: Told }[] = [];
  agent.on('stream', (stream) => {
    const told = new Told();
    stream.listener = told;
    calls.push({ stream, told });
  });
  await Promise.all([once(hub, 'remoteSettings'), once(agent, 'remoteSettings')]);
  return { hub, agent, calls };
}

function open(hub: FrameSession, last = true): { stream: FrameStream; told: Told } {
  const stream = hub.open();
  const told = new Told();
  stream.listener = told;
  stream.head('GET / HTTP/1.1\r\na: b\r\n\r\n', last);
  return { stream, told };
}

test('a call and its answer, each told of as it came, and closed when both have said all', async () => {
  const { hub, calls } = await startPair();
  const { told } = open(hub);
  await until(() => calls.length === 1);
  const [call] = calls;
  assert.deepEqual(call?.told.events, ['head GET / HTTP/1.1|a: b last', 'pause']);
  call?.stream.head('HTTP/1.1 200 OK\r\n\r\n', false);
  call?.stream.write(Buffer.from('some '));
  call?.stream.write(Buffer.from('bytes'));
  call?.stream.end();
  await until(() => told.events.includes('close 0'));
  assert.deepEqual(told.events, ['ended', 'head HTTP/1.1 200 OK', 'end', 'close 0', 'pause']);
  assert.equal(told.bytes, 10);
  assert.deepEqual(call?.told.events.at(-1), 'close 0');
});

test('nobody sends more than was given credit for, and goes on when it was read', async () => {
  const { hub, calls } = await startPair({ streamWindow: 200_000 });
  const { stream, told } = open(hub, false);
  await until(() => calls.length === 1);
  const [call] = calls;
  assert.equal(stream.write(Buffer.alloc(500_000)), false);
  await until(() => call?.told.bytes === 200_000);
  call?.stream.read(200_000);
  await until(() => call?.told.bytes === 400_000);
  assert.ok(!told.events.includes('writable'));
  call?.stream.read(200_000);
  await until(() => call?.told.bytes === 500_000);
  assert.ok(told.events.includes('writable'));
});

test('the connection has a window too, which a call that was broken off gives back', async () => {
  const { hub, calls } = await startPair({ connectionWindow: 300_000 });
  const first = open(hub, false);
  first.stream.write(Buffer.alloc(250_000));
  const second = open(hub, false);
  second.stream.write(Buffer.alloc(200_000));
  await until(() => calls.length === 2 && calls[1]?.told.bytes === 50_000);
  calls[0]?.stream.reset(Reset.cancelled);
  calls[0]?.stream.read(250_000);
  await until(() => calls[1]?.told.bytes === 200_000);
  assert.equal(first.told.events.at(-1), `close ${Reset.cancelled}`);
});

test('calls above the limit are refused, and only those', async () => {
  const { hub, calls } = await startPair({ maxStreams: 2 });
  const opened = [open(hub), open(hub), open(hub)];
  await until(() => opened[2]?.told.events.at(-1) === `close ${Reset.refused}`);
  assert.equal(calls.length, 2);
  assert.ok(opened.slice(0, 2).every(({ told }) => told.events.at(-1) === 'ended'));
});

test('an agent that leaves answers what it has taken, and says what it has not looked at', async () => {
  const { hub, agent, calls } = await startPair();
  const taken = open(hub);
  await until(() => calls.length === 1);
  agent.close();
  const late = open(hub);
  await until(() => late.told.events.at(-1) === `close ${Reset.refused}`);
  assert.throws(() => hub.open(), /takes no calls/);
  calls[0]?.stream.head('HTTP/1.1 204 No Content\r\n\r\n', true);
  await Promise.all([once(hub, 'close'), until(() => agent.destroyed)]);
  assert.ok(taken.told.events.includes('close 0'));
  assert.equal(calls.length, 1);
});

test('a connection that ends breaks off what runs on it, also what had nothing more to say', async () => {
  const { hub, agent, calls } = await startPair();
  const { told } = open(hub);
  await until(() => calls.length === 1);
  agent.destroy();
  await until(() => hub.destroyed);
  assert.equal(told.events.at(-1), `close ${Reset.failed}`);
  assert.equal(calls[0]?.told.events.at(-1), `close ${Reset.failed}`);
});

/** What one read of a full record of TLS brings: a frame of a body. */
const fullRead = (type: number, id: number): Buffer =>
  Buffer.concat([formatFrameHeader(type, id, FULL_READ - 8), Buffer.alloc(FULL_READ - 8)]);
const FULL_READ = 16 << 10;

test('what full reads bring in one turn is told of as one, and what a smaller one brings, at once', async () => {
  const { agent, peer } = startAgent();
  const began = once(agent, 'stream') as Promise<[FrameStream]>;
  peer.write(Buffer.concat([HELLO, HEAD]));
  const [stream] = await began;
  const told = stream.listener as Told;
  const pauses = (): number => told.events.filter((event) => event === 'pause').length;
  await until(() => pauses() === 1);
  for (let i = 0; i < 3; i += 1) peer.write(fullRead(FrameType.data, 7));
  await until(() => pauses() === 2);
  assert.equal(told.bytes, 3 * (FULL_READ - 8));
  const before = new Promise<number>((resolve) => setImmediate(() => resolve(pauses())));
  peer.write(Buffer.concat([formatFrameHeader(FrameType.data, 7, 3), Buffer.from('abc')]));
  assert.equal(await before, 3, 'ahead of what was to follow in that turn');
});

test('an answer that came whole is told of, though its connection ends in the same turn', async () => {
  const [one, peer] = duplexPair();
  const hub = new FrameSession(one, DEFAULT_LIMITS, { opens: true, buffers: BUFFERS });
  peer.resume().write(HELLO);
  await once(hub, 'remoteSettings');
  const { stream, told } = open(hub);
  let pausedBefore = false;
  told.onData = (_piece, last) => {
    pausedBefore ||= told.events.includes('pause');
    if (last) queueMicrotask(() => hub.destroy());
  };
  peer.write(
    Buffer.concat([formatTextFrame(FrameType.head, 1, 'HTTP/1.1 200 OK\r\n\r\n'), fullRead(FrameType.data | LAST, 1)]),
  );
  await until(() => hub.destroyed);
  assert.deepEqual([told.events.slice(-2), pausedBefore], [['close 0', 'pause'], false]);
  assert.ok(stream.closed);
});

/** An agent's end, and the bare other end of its socket. */
function startAgent(): { agent: FrameSession; peer: Duplex; errors: Error[] } {
  const [one, peer] = duplexPair();
  const agent = new FrameSession(one, { ...DEFAULT_LIMITS, streamWindow: 200_000 }, { opens: false, buffers: BUFFERS });
  const errors: Error[] = [];
  agent.on('error', (error) => errors.push(error));
  agent.on('stream', (stream) => {
    stream.listener = new Told();
  });
  peer.resume();
  return { agent, peer, errors };
}

const HELLO = formatHello(DEFAULT_LIMITS);
const HEAD = formatTextFrame(FrameType.head, 7, 'POST / HTTP/1.1\r\n\r\n');
const FAULTS: [string, Buffer[]][] = [
  ['does not begin with HELLO', [formatFrame(FrameType.ping, 0, 1)]],
  ['begins with another HELLO', [formatFrame(FrameType.hello, 0, 1, 2, 3, 4)]],
  ['opens a call twice', [HELLO, HEAD, formatFrame(FrameType.reset, 7, 8), HEAD]],
  ['sends a head without end', [HELLO, formatFrameHeader(FrameType.head, 1, 0xff_ff_ff)]],
  ['sends more than it may', [HELLO, HEAD, formatFrameHeader(FrameType.data, 7, 300_000), Buffer.alloc(300_000)]],
  [
    'goes on behind its end',
    [
      HELLO,
      HEAD,
      formatFrameHeader(FrameType.data | LAST, 7, 0),
      formatFrameHeader(FrameType.data, 7, 1),
      Buffer.alloc(1),
    ],
  ],
  ['sends a number that is none', [HELLO, formatFrameHeader(FrameType.credit, 0, 1), Buffer.alloc(1)]],
];
for (const [what, frames] of FAULTS) {
  test(`a peer that ${what} is left`, async () => {
    const { agent, peer, errors } = startAgent();
    for (const frame of frames) peer.write(frame);
    await until(() => agent.destroyed);
    assert.equal((errors[0] as Error & { code?: string }).code, 'ERR_TUNNEL_PROTOCOL');
  });
}

test('frames of a later version, and those of calls that are over, are passed over', async () => {
  const { agent, peer } = startAgent();
  const over = [
    formatFrame(FrameType.credit, 99, 1),
    formatFrame(FrameType.reset, 99, 8),
    formatFrame(FrameType.pong, 0, 99),
  ];
  const data = [formatFrameHeader(FrameType.data | LAST, 99, 3), Buffer.from('abc')];
  for (const frame of [HELLO, formatFrame(100, 0, 1), ...over, ...data]) peer.write(frame);
  let answered = false;
  peer.on('data', (chunk: Buffer) => {
    answered ||= chunk.includes(formatFrame(FrameType.pong, 0, 77));
  });
  peer.write(formatFrame(FrameType.ping, 0, 77));
  await until(() => answered);
  assert.ok(!agent.destroyed);
});

test('who sends PINGs and reads no answers loses the connection, before they fill the memory', async () => {
  const [one, other] = duplexPair();
  const session = new FrameSession(one, DEFAULT_LIMITS, { opens: true, buffers: BUFFERS });
  const failed = once(session, 'error');
  session.on('error', () => {});
  other.write(formatHello({ streamWindow: 1, connectionWindow: 1, maxStreams: 1 }));
  const pings = Buffer.concat(Array.from({ length: 10_000 }, () => formatFrame(FrameType.ping, 0, 7)));
  let sent = 0;
  while (!session.destroyed && sent < 1_000_000) {
    sent += 10_000;
    if (!other.write(pings)) await Promise.race([once(other, 'drain'), failed]);
  }
  assert.match(String((await failed)[0]), /does not read/);
  assert.ok(sent < 300_000, `${sent} PINGs`);
});
