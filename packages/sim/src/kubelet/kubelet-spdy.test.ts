import assert from 'node:assert/strict';
import { test } from 'node:test';
import { failure } from '@asterism/machinery';
import { askUpgrade } from './testing/ask-upgrade.ts';
import { type ClientStream, SpdyClient } from './testing/spdy-client.ts';
import { startTestKubelet, type TestKubelet } from './testing/start-test-kubelet.ts';

const SPDY = { connection: 'Upgrade', upgrade: 'SPDY/3.1' };
const EXEC = '/exec/default/web/app';

async function openExec(t: TestKubelet, query: string, version = 'v4.channel.k8s.io'): Promise<SpdyClient> {
  const socket = await t.connect();
  const path = `${EXEC}?${query}`;
  const answer = await askUpgrade(socket, { path, headers: { ...SPDY, 'x-stream-protocol-version': version } });
  assert.equal(answer.status, 101, answer.rest.toString());
  assert.equal(answer.headers.get('x-stream-protocol-version'), version.split(', ')[0]);
  return new SpdyClient(socket);
}

test('a command with its output, input and exit code', { timeout: 20_000 }, async () => {
  await using t = await startTestKubelet();
  t.backend.play = (process) => {
    process.stdin.on('data', (chunk: Buffer) => process.stdout.write(`got ${chunk.toString()}`));
    process.stdin.on('end', () => {
      process.stderr.write('done');
      process.exit(3);
    });
    assert.deepEqual(process.options, { command: ['sh', '-c', 'x y'], tty: false, stdin: true });
  };
  const client = await openExec(t, 'command=sh&command=-c&command=x%20y&input=1&output=1&error=1');
  const [error, stdin, stdout, stderr] = [
    await client.open({ streamtype: 'error' }),
    await client.open({ streamtype: 'stdin' }),
    await client.open({ streamtype: 'stdout' }),
    await client.open({ streamtype: 'stderr' }),
  ];
  client.send(stdin, 'one', true);
  await client.until(() => error.ended && stdout.ended && stderr.ended);
  assert.equal(stdout.text, 'got one');
  assert.equal(stderr.text, 'done');
  assert.deepEqual(JSON.parse(error.text), {
    metadata: {},
    status: 'Failure',
    message: 'command terminated with non-zero exit code: error executing command [sh -c x y], exit code 3',
    reason: 'NonZeroExitCode',
    details: { causes: [{ reason: 'ExitCode', message: '3' }] },
  });
  await client.until(() => client.control.some(({ type }) => type === 7)).catch(() => {});
  assert.ok(
    client.control.some(({ type }) => type === 7),
    'a GOAWAY',
  );
});

const versions: [version: string, code: number, status: string][] = [
  ['v5.channel.k8s.io', 0, '{"metadata":{},"status":"Success"}'],
  ['v3.channel.k8s.io', 0, ''],
  ['channel.k8s.io', 2, 'command terminated with non-zero exit code: error executing command [ls], exit code 2'],
  ['v2.channel.k8s.io, v1', 1, 'command terminated with non-zero exit code: error executing command [ls], exit code 1'],
];
for (const [version, code, status] of versions) {
  test(`the status of ${code} by ${version}`, { timeout: 20_000 }, async () => {
    await using t = await startTestKubelet();
    t.backend.play = (process) => process.exit(code);
    const client = await openExec(t, 'command=ls&output=1', version);
    const error = await client.open({ streamtype: 'error' });
    await client.open({ streamtype: 'stdout' });
    await client.until(() => error.ended);
    assert.equal(error.text, status);
  });
}

test('a terminal and its sizes', { timeout: 20_000 }, async () => {
  await using t = await startTestKubelet();
  const played = Promise.withResolvers<{ columns: number; rows: number }[]>();
  t.backend.play = (process) => {
    process.stdin.on('data', () => {
      played.resolve(process.sizes);
      process.exit(0);
    });
  };
  const client = await openExec(t, 'command=sh&input=1&output=1&error=1&tty=1');
  const error = await client.open({ streamtype: 'error' });
  const stdin = await client.open({ streamtype: 'stdin' });
  await client.open({ streamtype: 'stdout' });
  const resize = await client.open({ streamtype: 'resize' });
  client.send(resize, '{"Width":80,"Hei');
  client.send(resize, 'ght":24}\n{"Width":1,"Height":0}{"Width":100,"Height":50}');
  client.numbers(6, 1);
  await client.until(() => client.control.some(({ type }) => type === 6));
  client.send(stdin, 'x');
  assert.deepEqual(await played.promise, [
    { columns: 80, rows: 24 },
    { columns: 100, rows: 50 },
  ]);
  await client.until(() => error.ended);
});

test('a peer that vanishes ends its command', { timeout: 20_000 }, async () => {
  await using t = await startTestKubelet();
  const killed = Promise.withResolvers<string>();
  t.backend.play = (process) => void process.killed.then(killed.resolve);
  const client = await openExec(t, 'command=sleep&output=1');
  await client.open({ streamtype: 'error' });
  await client.open({ streamtype: 'stdout' });
  client.socket.destroy();
  assert.equal(await killed.promise, 'KILL');
});

test('a peer that keeps to windows is not sent more', { timeout: 20_000 }, async () => {
  await using t = await startTestKubelet();
  t.backend.play = (process) => {
    process.stdout.end(Buffer.alloc(300_000, 'a'));
    process.stderr.end('aside');
  };
  const client = await openExec(t, 'command=cat&output=1&error=1');
  client.frame(4, Buffer.from([0, 0, 0, 1, 0, 0, 0, 7, 0, 0, 0x4e, 0x20])); // INITIAL_WINDOW_SIZE 20,000
  await client.open({ streamtype: 'error' });
  const stdout = await client.open({ streamtype: 'stdout' });
  const stderr = await client.open({ streamtype: 'stderr' });
  await client.until(() => stderr.ended && stdout.length >= 20_000);
  client.numbers(6, 3);
  await client.until(() => client.control.some(({ type }) => type === 6));
  assert.equal(stdout.length, 20_000);
  client.numbers(9, stdout.id, 1_000_000);
  client.numbers(9, 0, 1_000_000);
  await client.until(() => stdout.ended);
  assert.equal(stdout.length, 300_000);
});

test('what a command reads late is credited, in order and whole', { timeout: 20_000 }, async () => {
  await using t = await startTestKubelet();
  const read = Promise.withResolvers<Buffer>();
  t.backend.play = (process) => {
    const pieces: Buffer[] = [];
    setImmediate(() => process.stdin.on('data', (piece: Buffer) => pieces.push(piece)));
    process.stdin.on('end', () => {
      read.resolve(Buffer.concat(pieces));
      process.exit(0);
    });
  };
  const client = await openExec(t, 'command=cat&input=1&output=1');
  const error = await client.open({ streamtype: 'error' });
  const stdin = await client.open({ streamtype: 'stdin' });
  await client.open({ streamtype: 'stdout' });
  const sent = Buffer.from(Array.from({ length: 3_000_000 }, (_, at) => at & 0xff));
  for (let at = 0; at < sent.length; at += 500_000) client.send(stdin, sent.subarray(at, at + 500_000));
  client.send(stdin, '', true);
  assert.ok(sent.equals(await read.promise));
  await client.until(() => error.ended);
  const credits = client.control.filter(({ type, payload }) => type === 9 && payload.readUInt32BE(0) === stdin.id);
  const credited = credits.reduce((sum, { payload }) => sum + payload.readUInt32BE(4), 0);
  assert.ok(credited > 2_900_000, `${credited} credited`);
});

test('forwarded connections, and one that is refused', { timeout: 20_000 }, async () => {
  await using t = await startTestKubelet();
  const socket = await t.connect();
  const headers = { ...SPDY, 'x-stream-protocol-version': 'portforward.k8s.io' };
  assert.equal((await askUpgrade(socket, { path: '/portForward/default/web', headers })).status, 101);
  const client = new SpdyClient(socket);
  const pairs: { error: ClientStream; data: ClientStream }[] = [];
  for (let index = 0; index < 20; index++) {
    const common = { port: index === 7 ? '81' : '80', requestid: String(index) };
    const error = await client.open({ ...common, streamtype: 'error' });
    const data = await client.open({ ...common, streamtype: 'data' });
    client.send(error, '', true);
    client.send(data, `hello ${index}`, true);
    pairs.push({ error, data });
  }
  await client.until(() => pairs.every(({ error, data }) => error.ended && data.ended));
  for (const [index, { error, data }] of pairs.entries()) {
    assert.equal(data.text, index === 7 ? '' : `hello ${index}`);
    const refused = 'error forwarding port 81 to pod web, uid : dial web:81: connect: connection refused';
    assert.equal(error.text, index === 7 ? refused : '');
  }
});

test('a stream of a forward that is reset ends its connection alone', { timeout: 20_000 }, async () => {
  await using t = await startTestKubelet();
  const socket = await t.connect();
  const headers = { ...SPDY, 'x-stream-protocol-version': 'portforward.k8s.io' };
  await askUpgrade(socket, { path: '/portForward/default/web', headers });
  const client = new SpdyClient(socket);
  const open = async (id: string) => {
    await client.open({ port: '80', requestid: id, streamtype: 'error' });
    return await client.open({ port: '80', requestid: id, streamtype: 'data' });
  };
  const [one, two] = [await open('1'), await open('2')];
  client.send(one, 'x');
  await client.until(() => one.text === 'x');
  const gone = new Promise((resolve) => t.backend.dialed[0]?.once('close', resolve));
  client.numbers(3, one.id, 5);
  await gone;
  client.send(two, 'y');
  await client.until(() => two.text === 'y');
});

const garbage: [name: string, bytes: Buffer][] = [
  ['another version', Buffer.from('8002000100000004'.padEnd(24, '0'), 'hex')],
  ['a control frame of 16 MB', Buffer.from('8003000100ffffff', 'hex')],
  ['headers that do not decompress', Buffer.concat([Buffer.from('8003000100000014', 'hex'), Buffer.alloc(20, 0xaa)])],
  ['data of no stream', Buffer.from('00000005000000010a', 'hex')],
  ['a short frame', Buffer.from('80030009000000020000', 'hex')],
];
for (const [name, bytes] of garbage) {
  test(`${name} ends the connection and the command`, { timeout: 20_000 }, async () => {
    await using t = await startTestKubelet();
    const killed = Promise.withResolvers<string>();
    t.backend.play = (process) => void process.killed.then(killed.resolve);
    const client = await openExec(t, 'command=sleep&output=1');
    await client.open({ streamtype: 'error' });
    await client.open({ streamtype: 'stdout' });
    client.socket.write(bytes);
    assert.equal(await killed.promise, 'KILL');
    await client.until(() => false).catch(() => {});
    assert.ok(client.closed);
  });
}

test('a peer that asks and does not read is not read on', { timeout: 20_000 }, async () => {
  await using t = await startTestKubelet();
  t.backend.play = (process) => process.stdout.write('up');
  const client = await openExec(t, 'command=sleep&output=1');
  await client.open({ streamtype: 'error' });
  const stdout = await client.open({ streamtype: 'stdout' });
  await client.until(() => stdout.text === 'up');
  client.socket.pause();
  const pings = Buffer.alloc(12 * 100_000, Buffer.from('800300060000000400000001', 'hex'));
  const taken = { bytes: 0 };
  const write = (): void => {
    while (taken.bytes < 300 * 1024 * 1024) {
      taken.bytes += pings.length;
      if (!client.socket.write(pings)) return;
    }
  };
  client.socket.on('drain', write);
  write();
  const other = await t.connect();
  let last = -1;
  while (last !== taken.bytes) {
    last = taken.bytes;
    // Each answer is a turn of the server's loop, in which it would have read on.
    for (let turn = 0; turn < 20; turn++) {
      const { status } = await askUpgrade(other, { method: 'GET', path: '/healthz', headers: {} });
      assert.equal(status, 200);
    }
  }
  assert.ok(taken.bytes < 100 * 1024 * 1024, `${taken.bytes} bytes of pings read`);
});

const refusals: [name: string, path: string, headers: Record<string, string>, status: number, text: RegExp][] = [
  [
    'no common version',
    `${EXEC}?output=1`,
    { ...SPDY, 'x-stream-protocol-version': 'v9.x' },
    403,
    /unable to negotiate protocol: client supports \[v9\.x\]/,
  ],
  ['no version', `${EXEC}?output=1`, SPDY, 400, /X-Stream-Protocol-Version is required/],
  ['another upgrade', `${EXEC}?output=1`, { ...SPDY, upgrade: 'h2c' }, 400, /missing upgrade headers/],
  ['no stream', EXEC, { ...SPDY, 'x-stream-protocol-version': 'v4.channel.k8s.io' }, 400, /at least 1 of stdin/],
  [
    'no such pod',
    '/exec/default/x/app?output=1',
    { ...SPDY, 'x-stream-protocol-version': 'v4.channel.k8s.io' },
    404,
    /^pod does not exist\n$/,
  ],
  [
    'no such route',
    '/x/default/web?output=1',
    { ...SPDY, 'x-stream-protocol-version': 'v4.channel.k8s.io' },
    404,
    /Not Found/,
  ],
];
for (const [name, path, headers, status, text] of refusals) {
  test(`refused: ${name}`, { timeout: 20_000 }, async () => {
    await using t = await startTestKubelet();
    const answer = await askUpgrade(await t.connect(), { path, headers });
    assert.equal(answer.status, status);
    assert.match(answer.rest.toString(), text);
  });
}

test('a container that does not run is refused before the upgrade', { timeout: 20_000 }, async () => {
  await using t = await startTestKubelet();
  t.backend.refusal = failure(400, 'container app is not running');
  const headers = { ...SPDY, 'x-stream-protocol-version': 'v4.channel.k8s.io' };
  const answer = await askUpgrade(await t.connect(), { path: `${EXEC}?output=1`, headers });
  assert.deepEqual([answer.status, answer.rest.toString()], [400, 'container app is not running\n']);
});

for (const as of ['stranger', 'nobody'] as const) {
  test(`${as} is not let in`, { timeout: 20_000 }, async () => {
    await using t = await startTestKubelet();
    const headers = { ...SPDY, 'x-stream-protocol-version': 'v4.channel.k8s.io' };
    const upgrade = await askUpgrade(await t.connect(as), { path: `${EXEC}?output=1`, headers });
    assert.deepEqual([upgrade.status, upgrade.rest.toString()], [401, 'Unauthorized\n']);
    const log = await askUpgrade(await t.connect(as), {
      method: 'GET',
      path: '/containerLogs/default/web/app',
      headers: {},
    });
    assert.equal(log.status, 401);
  });
}
