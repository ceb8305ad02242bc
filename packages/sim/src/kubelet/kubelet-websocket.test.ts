import assert from 'node:assert/strict';
import { test } from 'node:test';
import { askUpgrade } from './testing/ask-upgrade.ts';
import type { PlayedProcess } from './testing/fake-backend.ts';
import { startTestKubelet, type TestKubelet } from './testing/start-test-kubelet.ts';
import { WebSocketClient } from './testing/websocket-client.ts';

const WEBSOCKET = {
  connection: 'keep-alive, Upgrade',
  upgrade: 'websocket',
  'sec-websocket-version': '13',
  'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
};
const EXEC = '/exec/default/web/app';

async function open(t: TestKubelet, path: string, protocol: string): Promise<WebSocketClient> {
  const socket = await t.connect();
  const headers = { ...WEBSOCKET, ...(protocol === '' ? {} : { 'sec-websocket-protocol': protocol }) };
  const answer = await askUpgrade(socket, { method: 'GET', path, headers });
  assert.equal(answer.status, 101, answer.rest.toString());
  assert.equal(answer.headers.get('sec-websocket-accept'), 's3pPLMBiTxaQ9kYGzzhZRbK+xOo=');
  assert.equal(answer.headers.get('sec-websocket-protocol'), protocol === '' ? undefined : protocol.split(', ')[0]);
  return new WebSocketClient(socket);
}

const SUCCESS = '{"metadata":{},"status":"Success"}';

test('the end of the input is told by v5 alone, and the output comes whole', { timeout: 20_000 }, async () => {
  await using t = await startTestKubelet();
  t.backend.play = (process) => {
    process.stdin.pipe(process.stdout, { end: false });
    process.stdin.on('end', () => process.exit(0));
  };
  const client = await open(t, `${EXEC}?command=cat&input=1&output=1&error=1`, 'v5.channel.k8s.io');
  await client.until(() => client.messages.length > 0);
  assert.deepEqual(client.messages[0], Buffer.from([1]), 'an empty message tells that it is there');
  const sent = Buffer.from(Array.from({ length: 2_000_000 }, (_, at) => at & 0xff));
  client.send(0, sent.subarray(0, 1_500_000));
  client.frame(0x02, Buffer.concat([Buffer.from([0]), sent.subarray(1_500_000, 1_700_000)]));
  client.frame(0x89, Buffer.from('ping'));
  client.frame(0x80, sent.subarray(1_700_000));
  client.send(255, Buffer.from([0]));
  await client.until(() => client.closeCode !== undefined);
  assert.ok(client.channel(1).equals(sent));
  assert.equal(client.channel(3).toString(), SUCCESS);
  assert.equal(client.closeCode, 1000);
  assert.deepEqual(client.pongs, [Buffer.from('ping')]);
});

const versions: [protocol: string, code: number, channel3: string | undefined][] = [
  ['v4.channel.k8s.io', 0, SUCCESS],
  ['channel.k8s.io', 0, ''],
  ['', 4, 'command terminated with non-zero exit code: error executing command [ls], exit code 4'],
  ['v4.base64.channel.k8s.io', 0, undefined],
];
for (const [protocol, code, channel3] of versions) {
  test(`a command by "${protocol}"`, { timeout: 20_000 }, async () => {
    await using t = await startTestKubelet();
    t.backend.play = (process) => {
      process.stdout.write('out');
      process.stdin.once('data', (data: Buffer) => {
        process.stderr.write(data);
        process.exit(code);
      });
    };
    const client = await open(t, `${EXEC}?command=ls&input=1&output=1&error=1`, protocol);
    if (channel3 !== undefined) {
      client.send(0, 'typed');
      await client.until(() => client.closeCode !== undefined);
      assert.equal(client.channel(1).toString(), 'out');
      assert.equal(client.channel(2).toString(), 'typed');
      assert.equal(client.channel(3).toString(), channel3);
      return;
    }
    client.frame(0x81, Buffer.from(`0${Buffer.from('typed').toString('base64')}`));
    await client.until(() => client.closeCode !== undefined);
    const texts = client.messages.map((message) => message.toString());
    const decoded = texts.map((text) => `${text[0]}${Buffer.from(text.slice(1), 'base64').toString()}`);
    assert.deepEqual(decoded.toSorted(), ['1', '1out', '2typed', `3${SUCCESS}`]);
  });
}

test('a program that cannot be started is told on the error channel', { timeout: 20_000 }, async () => {
  await using t = await startTestKubelet();
  t.backend.refusal = new Error('exec: "nope": executable file not found in $PATH');
  const client = await open(t, `${EXEC}?command=nope&output=1`, 'v4.channel.k8s.io');
  await client.until(() => client.closeCode !== undefined);
  const message = 'error executing command in container: exec: "nope": executable file not found in $PATH';
  assert.deepEqual(JSON.parse(client.channel(3).toString()), {
    metadata: {},
    status: 'Failure',
    message: `Internal error occurred: ${message}`,
    reason: 'InternalError',
    details: { causes: [{ message }] },
    code: 500,
  });
});

test('sizes of a terminal', { timeout: 20_000 }, async () => {
  await using t = await startTestKubelet();
  const sizes = Promise.withResolvers<object>();
  t.backend.play = (process) => {
    process.stdin.once('data', () => {
      sizes.resolve(process.sizes);
      process.exit(0);
    });
  };
  const client = await open(t, `${EXEC}?command=sh&input=1&output=1&error=1&tty=1`, 'v5.channel.k8s.io');
  client.send(4, '{"Width":132,"Height":43}');
  client.send(0, 'x');
  assert.deepEqual(await sizes.promise, [{ columns: 132, rows: 43 }]);
});

test('a peer that vanishes ends its command', { timeout: 20_000 }, async () => {
  await using t = await startTestKubelet();
  const killed = Promise.withResolvers<string>();
  t.backend.play = (process) => void process.killed.then(killed.resolve);
  const client = await open(t, `${EXEC}?command=sleep&output=1`, 'v4.channel.k8s.io');
  client.socket.destroy();
  assert.equal(await killed.promise, 'KILL');
});

test('a container that was attached to keeps its input when the peer vanishes', { timeout: 20_000 }, async () => {
  await using t = await startTestKubelet();
  const over = Promise.withResolvers<PlayedProcess>();
  t.backend.play = (process) => {
    process.stdout.write('up');
    void process.killed.then(() => over.resolve(process));
  };
  const client = await open(t, '/attach/default/web/app?input=1&output=1', 'v4.channel.k8s.io');
  client.send(0, 'typed');
  await client.until(() => client.channel(1).toString() === 'up');
  client.socket.destroy();
  const { stdin } = await over.promise;
  assert.equal(String(stdin.read()), 'typed');
  assert.ok(!stdin.writableEnded && !stdin.destroyed);
});

test('output waits for its reader, and another command does not', { timeout: 20_000 }, async () => {
  await using t = await startTestKubelet();
  let written = 0;
  t.backend.play = (process) => {
    const write = (): void => {
      do written += 65_536;
      while (written < 200_000_000 && process.stdout.write(Buffer.alloc(65_536)));
    };
    if (process.options.command?.[0] === 'yes') process.stdout.on('drain', write).on('error', () => {});
    if (process.options.command?.[0] === 'yes') write();
    else process.exit(0);
  };
  const slow = await open(t, `${EXEC}?command=yes&output=1`, 'v4.channel.k8s.io');
  await slow.until(() => slow.messages.length > 1);
  slow.socket.pause();
  const quick = await open(t, `${EXEC}?command=true&output=1`, 'v4.channel.k8s.io');
  await quick.until(() => quick.closeCode !== undefined);
  assert.equal(quick.channel(3).toString(), SUCCESS);
  assert.ok(written < 100_000_000, `${written} bytes written for nobody`);
});

const misuse: [name: string, send: (client: WebSocketClient) => void, code: number][] = [
  ['a frame without a mask', (client) => client.frame(0x82, Buffer.from([0]), { masked: false }), 1002],
  ['an extension', (client) => client.frame(0xc2, Buffer.from([0])), 1002],
  ['an unknown opcode', (client) => client.frame(0x83, Buffer.from([0])), 1002],
  ['a continuation of nothing', (client) => client.frame(0x80, Buffer.from([0])), 1002],
  ['a long ping', (client) => client.frame(0x89, Buffer.alloc(126)), 1002],
];
for (const [name, send, code] of misuse) {
  test(`${name} ends the connection and the command`, { timeout: 20_000 }, async () => {
    await using t = await startTestKubelet();
    const killed = Promise.withResolvers<string>();
    t.backend.play = (process) => void process.killed.then(killed.resolve);
    const client = await open(t, `${EXEC}?command=sleep&input=1&output=1`, 'v4.channel.k8s.io');
    send(client);
    await client.until(() => client.closeCode !== undefined);
    assert.equal(client.closeCode, code);
    assert.equal(await killed.promise, 'KILL');
  });
}

test('ports over channels', { timeout: 20_000 }, async () => {
  await using t = await startTestKubelet();
  const client = await open(t, '/portForward/default/web?port=80,81', 'v4.channel.k8s.io');
  client.send(0, 'hello');
  await client.until(() => client.channel(0).length === 7 && client.channel(3).length > 2);
  assert.equal(client.channel(0).toString('latin1'), '\x50\x00hello');
  assert.deepEqual(client.channel(1), Buffer.from([80, 0]));
  assert.match(client.channel(3).subarray(2).toString(), /^error forwarding port 81 to pod web, .*refused$/);
});

const refusals: [name: string, path: string, headers: Record<string, string>, status: number, text: RegExp][] = [
  [
    'no common protocol',
    `${EXEC}?output=1`,
    { 'sec-websocket-protocol': 'v9.x' },
    403,
    /\[v9\.x\] are not|not supported: \[v9\.x\]/,
  ],
  ['another version', `${EXEC}?output=1`, { 'sec-websocket-version': '8' }, 400, /bad WebSocket Version/],
  ['no key', `${EXEC}?output=1`, { 'sec-websocket-key': '' }, 400, /Sec-WebSocket-Key/],
  ['no port', '/portForward/default/web', { 'sec-websocket-protocol': 'v4.channel.k8s.io' }, 400, /"port" is required/],
  [
    'a port that is none',
    '/portForward/default/web?port=x',
    { 'sec-websocket-protocol': 'v4.channel.k8s.io' },
    400,
    /"x" as a port/,
  ],
];
for (const [name, path, headers, status, text] of refusals) {
  test(`refused: ${name}`, { timeout: 20_000 }, async () => {
    await using t = await startTestKubelet();
    const request = { method: 'GET', path, headers: { ...WEBSOCKET, ...headers } };
    const answer = await askUpgrade(await t.connect(), request);
    assert.equal(answer.status, status);
    assert.match(answer.rest.toString(), text);
  });
}
