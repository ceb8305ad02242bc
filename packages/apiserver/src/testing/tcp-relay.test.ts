import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { TcpRelay } from './tcp-relay.ts';

describe('a TCP relay', { timeout: 10_000 }, () => {
  let server: Server;
  let relay: TcpRelay;
  let port: number;

  beforeEach(async () => {
    // Says what it hears, and then the end of it.
    server = createServer({ allowHalfOpen: true }, (socket) => socket.on('error', () => {}).pipe(socket));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    relay = new TcpRelay();
    const address = server.address();
    relay.leadTo(typeof address === 'object' && address !== null ? address.port : 0);
    port = await relay.listen({ host: '127.0.0.1', port: 0 });
  });

  afterEach(async () => {
    await relay.close();
    server.close();
  });

  const dial = async (): Promise<Socket> => {
    const socket = connect({ host: '127.0.0.1', port, allowHalfOpen: true });
    await once(socket, 'connect');
    return socket;
  };
  const say = async (socket: Socket, text: string): Promise<string> => {
    socket.write(text);
    const [heard] = await once(socket, 'data');
    return String(heard);
  };

  test('passes on what is said, and each end of it', async () => {
    const socket = await dial();
    assert.equal(await say(socket, 'a'), 'a');
    const ended = once(socket, 'end');
    socket.end('b');
    assert.deepEqual(await once(socket, 'data'), [Buffer.from('b')]);
    await ended;
  });

  test('frozen passes nothing, and all of it when it thaws, on new connections too', async () => {
    const socket = await dial();
    await say(socket, 'a');
    relay.freeze();
    const late = await dial();
    const heard = new Set<string>();
    const answers = [socket, late].map((each) => once(each, 'data').then(([text]) => heard.add(String(text))));
    socket.write('b');
    late.write('c');
    const other = await dialPast();
    assert.equal(await say(other, 'past it'), 'past it');
    assert.equal(heard.size, 0);
    relay.thaw();
    await Promise.all(answers);
    assert.deepEqual(heard, new Set(['b', 'c']));
    for (const each of [socket, late, other]) each.destroy();
  });

  const dialPast = async (): Promise<Socket> => {
    const address = server.address();
    const socket = connect({
      host: '127.0.0.1',
      port: typeof address === 'object' && address !== null ? address.port : 0,
    });
    await once(socket, 'connect');
    return socket;
  };

  for (const state of ['open', 'frozen'] as const) {
    test(`resets connections that are ${state}, and lets go of them`, async () => {
      const socket = await dial();
      await say(socket, 'a');
      if (state === 'frozen') relay.freeze();
      const closed = new Promise<string | undefined>((resolve) => {
        socket.on('error', (error: NodeJS.ErrnoException) => resolve(error.code)).on('close', () => resolve(undefined));
      });
      assert.equal(relay.reset(), 1);
      assert.equal(await closed, 'ECONNRESET');
      await relay.close();
    });
  }
});
