import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { Daemon } from '../cluster/daemon.ts';
import { freePort } from '../cluster/free-port.ts';
import { Lab } from '../cluster/lab.ts';
import { unlessLab } from '../cluster/node-assets.ts';
import { Relay } from '../cluster/relay.ts';
import { RunFolder } from '../cluster/run-folder.ts';

/** Sends back what it gets, and ends when the other side does. */
async function startEcho(port = 0): Promise<AsyncDisposable & { port: number }> {
  const server: Server = createServer({ allowHalfOpen: true }, (socket) => {
    socket.on('error', () => {});
    socket.pipe(socket);
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return { port: (server.address() as AddressInfo).port, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() };
}

async function dial(port: number): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  await once(socket, 'connect');
  return socket;
}

/** Everything that comes until the other side ends. */
async function readAll(socket: Socket): Promise<string> {
  let text = '';
  for await (const chunk of socket) text += String(chunk);
  return text;
}

/** Round trips through the event loop and the kernel in which held bytes would have come. */
async function aWhile(): Promise<void> {
  await using echo = await startEcho();
  for (let trip = 0; trip < 20; trip += 1) {
    const socket = await dial(echo.port);
    socket.end('.');
    await readAll(socket);
  }
}

test('a relay passes bytes and ends on, of any size, in both directions', async () => {
  await using echo = await startEcho();
  await using relay = await Relay.listen({ port: 0 }, { port: echo.port });
  const socket = await dial(relay.port);
  const text = 'x'.repeat(3_000_000);
  socket.end(text);
  assert.equal((await readAll(socket)).length, text.length);
});

test('a relay that is cut holds what comes, new connections too, and closes nothing; restored, it delivers all of it', async () => {
  await using echo = await startEcho();
  await using relay = await Relay.listen({ port: 0 }, { port: echo.port });
  const old = await dial(relay.port);
  old.write('1');
  assert.equal(String((await once(old, 'data'))[0]), '1');
  relay.cut();
  const late = await dial(relay.port);
  const heard: string[] = [];
  for (const socket of [old, late]) socket.on('data', (chunk) => heard.push(String(chunk)));
  old.end('2');
  late.end('3');
  await aWhile();
  assert.equal(heard.length, 0);
  assert.deepEqual([old.readableEnded, late.readableEnded], [false, false]);
  relay.restore();
  await Promise.all([once(old, 'end'), once(late, 'end')]);
  assert.deepEqual(
    heard.toSorted((a, b) => a.localeCompare(b)),
    ['2', '3'],
  );
});

test('a relay closes what cannot be passed on, but not while it is cut', async () => {
  await using relay = await Relay.listen({ port: 0 }, { port: await freePort() });
  relay.cut();
  const socket = await dial(relay.port);
  await aWhile();
  assert.equal(socket.readableEnded, false);
  relay.restore();
  await readAll(socket);
});

test('a daemon is frozen, thawed, killed, and started again', async () => {
  await using run = await RunFolder.open();
  await using daemon = new Daemon({
    name: 'looper',
    command: ['sh', '-c', 'i=0; while :; do i=$((i+1)); echo "tick $i"; sleep 0.01; done'],
    log: join(run.path, 'looper.log'),
  });
  for (let life = 0; life < 2; life += 1) {
    await daemon.start();
    await daemon.printed(/tick 3$/m);
    await daemon.freeze();
    assert.match(await readFile(`/proc/${await daemon.pid()}/stat`, 'utf8'), /\) T /);
    const ticks = daemon.stdout.split('\n').length;
    await daemon.thaw();
    await daemon.printed(new RegExp(`tick ${ticks + 5}$`, 'm'));
    await daemon.kill();
    assert.equal(daemon.running, false);
  }
});

test('a daemon that ends early says why: how it ended, and the end of its log', async () => {
  await using run = await RunFolder.open();
  await using daemon = new Daemon({
    name: 'loser',
    command: ['sh', '-c', 'echo "no such luck" >&2; exit 3'],
    log: join(run.path, 'loser.log'),
  });
  await daemon.start();
  await assert.rejects(daemon.printed(/never/), /loser does not run \(exit code 3\)[^]*no such luck/);
});

test('a lab: nobody dials in or out, but for the ways that were opened', { skip: unlessLab() }, async () => {
  await using run = await RunFolder.open();
  await using echo = await startEcho();
  await using lab = await Lab.start(run, 'private');
  const dialOut = (address: string, port: number): Promise<string> =>
    lab.shell(`timeout 2 bash -c 'exec 3<>/dev/tcp/${address}/${port} && echo hello >&3 && head -1 <&3'`);
  await assert.rejects(dialOut('127.0.0.1', echo.port), /refused/);
  const way = await lab.openWayOut(echo.port);
  assert.equal(await dialOut('127.0.0.1', echo.port), 'hello\n');
  way.cut();
  await assert.rejects(dialOut('127.0.0.1', echo.port), { code: 124 }, 'connected, and then silence');
  assert.match(await lab.shell('ip -o link show | wc -l'), /^2$/m);
  assert.equal(await lab.shell('ip route show default'), '');
});
