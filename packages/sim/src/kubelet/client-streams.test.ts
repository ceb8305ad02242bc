import assert from 'node:assert/strict';
import { once } from 'node:events';
import { PassThrough } from 'node:stream';
import { buffer, text } from 'node:stream/consumers';
import { describe, test } from 'node:test';
import { type CommandStream, openAttach, openExec, openPortForward } from '@asterism/client';
import { isStatusError } from '@asterism/machinery';
import type { PlayedProcess } from './testing/fake-backend.ts';
import { type PodServer, type Refused, startPodServer } from './testing/start-pod-server.ts';

const web = { namespace: 'default', pod: 'web' };
const bytes = Buffer.from(Array.from({ length: 3_000_000 }, (_, at) => (at * 7) & 0xff));

/** A command of which a test has all streams. */
type WholeStream = CommandStream & { [Name in 'stdin' | 'stdout' | 'stderr']: NonNullable<CommandStream[Name]> };

function whole(stream: CommandStream): WholeStream {
  assert.ok(stream.stdin && stream.stdout && stream.stderr);
  return stream as WholeStream;
}

const carriers: [refused: Refused, protocol: string, halfCloses: boolean][] = [
  ['nothing', 'v5.channel.k8s.io over WebSocket', true],
  ['websocket', 'v4.channel.k8s.io over SPDY', true],
  ['spdy-and-v5', 'v4.channel.k8s.io over WebSocket', false],
];
for (const [refused, protocol, halfCloses] of carriers) {
  describe(`a command by ${protocol}`, { timeout: 30_000 }, () => {
    const open = async (server: PodServer, command: string[] = ['cat'], signal?: AbortSignal): Promise<WholeStream> => {
      const stream = await openExec(server.client(refused), { ...web, command, stdin: true, signal });
      assert.equal(stream.protocol, protocol);
      return whole(stream);
    };

    test('megabytes through both ways, both outputs, the exit code', async () => {
      await using server = await startPodServer();
      server.backend.play = (process) => {
        let length = 0;
        process.stdin.on('data', (piece: Buffer) => {
          length += piece.length;
          if (!process.stdout.write(piece)) process.stdin.pause();
          if (length === bytes.length && !halfCloses) finish();
        });
        process.stdout.on('drain', () => process.stdin.resume());
        process.stdin.on('end', () => finish());
        const finish = (): void => {
          process.stderr.write('done');
          process.exit(7);
        };
      };
      await using stream = await open(server);
      const outputs = Promise.all([buffer(stream.stdout), text(stream.stderr)]);
      if (halfCloses) stream.stdin.end(bytes);
      else stream.stdin.write(bytes);
      const [stdout, stderr] = await outputs;
      assert.ok(stdout.equals(bytes), `${stdout.length} bytes`);
      assert.equal(stderr, 'done');
      assert.equal(await stream.exit, 7);
    });

    test('the last bytes of a command that is over can be read late', async () => {
      await using server = await startPodServer();
      const tail = bytes.subarray(0, 200_000);
      server.backend.play = (process) => {
        process.stdout.write(tail);
        process.exit(0);
      };
      await using stream = await open(server);
      assert.equal(await stream.exit, 0);
      const [stdout, stderr] = await Promise.all([buffer(stream.stdout), text(stream.stderr)]);
      assert.ok(stdout.equals(tail), `${stdout.length} bytes`);
      assert.equal(stderr, '');
    });

    test('nothing is said to a server while it sends: what it has not read when it is done would cost its last bytes', async () => {
      await using server = await startPodServer();
      const played = Promise.withResolvers<PlayedProcess>();
      server.backend.play = played.resolve;
      await using stream = await open(server);
      const process = await played.promise;
      process.stdout.write('begun');
      await once(stream.stdout, 'data');
      let written = 0;
      server.events.on('written', () => void written++);
      stream.stderr.resume();
      process.stdout.write(bytes);
      for (let length = 0; length < bytes.length; )
        length += ((await once(stream.stdout, 'data')) as [Buffer])[0].length;
      assert.equal(written, 0);
      process.exit(0);
      assert.equal(await stream.exit, 0);
    });

    test('a reader that waits holds up the command', async () => {
      await using server = await startPodServer();
      let written = 0;
      server.backend.play = (process) => {
        const write = (): void => {
          do written += 65_536;
          while (written < 200_000_000 && process.stdout.write(Buffer.alloc(65_536)));
        };
        process.stdout.on('drain', write).on('error', () => {});
        write();
      };
      await using stream = await open(server);
      await once(stream.stdout, 'readable');
      // As long as another command takes, from its start to its end.
      server.backend.play = (process) => process.exit(0);
      await using other = await open(server);
      other.stdout.resume();
      other.stderr.resume();
      assert.equal(await other.exit, 0);
      assert.ok(written < 100_000_000, `${written} bytes written for nobody`);
    });

    test('a command that does not read holds up the writer', async () => {
      await using server = await startPodServer();
      const read = Promise.withResolvers<Buffer>();
      const begin = Promise.withResolvers<void>();
      server.backend.play = (process) => {
        void begin.promise.then(async () => {
          const pieces: Buffer[] = [];
          let length = 0;
          for await (const piece of process.stdin) {
            pieces.push(piece as Buffer);
            length += (piece as Buffer).length;
            if (length === 10 * bytes.length) break;
          }
          read.resolve(Buffer.concat(pieces));
          process.exit(0);
        });
      };
      await using stream = await open(server);
      stream.stdout.resume();
      stream.stderr.resume();
      let taken = 0;
      const writing = (async () => {
        for (let count = 0; count < 10; count++) {
          if (!stream.stdin.write(bytes)) await once(stream.stdin, 'drain');
          taken++;
        }
      })();
      server.backend.play = (process) => process.exit(0);
      await using other = await open(server);
      other.stdout.resume();
      other.stderr.resume();
      assert.equal(await other.exit, 0);
      assert.ok(taken < 10, `${taken} writes taken by nobody`);
      begin.resolve();
      await writing;
      assert.equal((await read.promise).length, 10 * bytes.length);
      assert.equal(await stream.exit, 0);
    });

    test('a program that cannot be started', async () => {
      await using server = await startPodServer();
      server.backend.refusal = new Error('exec: "nope": executable file not found in $PATH');
      await using stream = await open(server, ['nope']);
      await assert.rejects(stream.exit, {
        code: 'ERR_COMMAND',
        message: /^Internal error occurred: error executing command in container: exec: "nope": executable file not/,
      });
    });

    test('an abort ends the command, and is told', async () => {
      await using server = await startPodServer();
      const killed = Promise.withResolvers<string>();
      server.backend.play = (process) => void process.killed.then(killed.resolve);
      const abort = new AbortController();
      await using stream = await open(server, ['sleep'], abort.signal);
      abort.abort(new Error('enough'));
      await assert.rejects(stream.exit, /^Error: enough$/);
      assert.equal(await killed.promise, 'KILL');
    });

    test('close lets go of the command', async () => {
      await using server = await startPodServer();
      const killed = Promise.withResolvers<string>();
      server.backend.play = (process) => void process.killed.then(killed.resolve);
      const stream = await open(server, ['sleep']);
      stream.close();
      await assert.rejects(stream.exit, { code: 'ERR_STREAM_LOST', message: /pod default\/web ended before/ });
      assert.equal(await killed.promise, 'KILL');
    });

    test('signs of life go out while nothing is said, and change nothing', async () => {
      await using server = await startPodServer();
      const played = Promise.withResolvers<PlayedProcess>();
      server.backend.play = played.resolve;
      const request = { ...web, command: ['sleep'], stdin: true, pingMs: 20 };
      await using stream = whole(await openExec(server.client(refused), request));
      const process = await played.promise;
      for (let count = 0; count < 5; count++) await once(server.events, 'written');
      process.stdout.write('woken');
      process.exit(0);
      assert.deepEqual(await Promise.all([text(stream.stdout), text(stream.stderr), stream.exit]), ['woken', '', 0]);
    });

    test('a terminal and its sizes', async () => {
      await using server = await startPodServer();
      server.backend.play = (process) => {
        // Over SPDY each stream is on its own: the sizes may come behind what was typed.
        const look = (): void => {
          if (process.sizes.length < 2) return void setImmediate(look);
          process.stdout.write(JSON.stringify([process.options.tty, process.sizes]));
          process.exit(0);
        };
        process.stdin.once('data', look);
      };
      const request = { ...web, command: ['sh'], stdin: true, tty: true };
      await using stream = await openExec(server.client(refused), request);
      assert.equal(stream.stderr, undefined);
      stream.resize({ columns: 132, rows: 43 });
      stream.resize({ columns: 80, rows: 24 });
      stream.stdin?.write('x');
      const sizes = [
        { columns: 132, rows: 43 },
        { columns: 80, rows: 24 },
      ];
      assert.deepEqual(JSON.parse(await text(stream.stdout!)), [true, sizes]);
      assert.equal(await stream.exit, 0);
    });
  });
}

describe('which protocol', { timeout: 30_000 }, () => {
  test('where nothing is sent v4 will do, and is asked for at once', async () => {
    await using server = await startPodServer();
    await using stream = await openAttach(server.client('spdy-and-v5'), web);
    assert.equal(stream.protocol, 'v4.channel.k8s.io over WebSocket');
    assert.deepEqual(server.asked, ['GET websocket']);
    stream.stdout?.resume();
    stream.stderr?.resume();
    assert.equal(await stream.exit, 0);
  });

  test('v4 over WebSocket refuses to leave a command without the end of its input', async () => {
    await using server = await startPodServer();
    server.backend.play = () => {};
    await using stream = await openExec(server.client('spdy-and-v5'), { ...web, command: ['cat'], stdin: true });
    assert.deepEqual(server.asked, ['GET websocket', 'POST SPDY/3.1', 'GET websocket']);
    stream.stdin?.end('typed');
    await assert.rejects(stream.exit, {
      code: 'ERR_COMMAND',
      message: /cannot tell a command that its input has ended/,
    });
  });

  test('a pod that is not there is asked for once', async () => {
    await using server = await startPodServer();
    await assert.rejects(
      openExec(server.client(), { ...web, pod: 'gone', command: ['ls'] }),
      (error) => isStatusError(error, 'NotFound') && error.message === 'pods "gone" not found',
    );
    assert.deepEqual(server.asked, ['GET websocket']);
  });

  test('a container that is not there: what the API said', async () => {
    await using server = await startPodServer();
    await assert.rejects(
      openExec(server.client(), { ...web, container: 'x', command: ['ls'] }),
      (error) => isStatusError(error, 'BadRequest') && error.message === 'container x is not valid for pod web',
    );
  });
});

const forwards: [refused: Refused, protocol: string][] = [
  ['nothing', 'SPDY/3.1+portforward.k8s.io over WebSocket'],
  ['websocket', 'portforward.k8s.io over SPDY'],
];
for (const [refused, protocol] of forwards) {
  describe(`port-forward by ${protocol}`, { timeout: 30_000 }, () => {
    test('many connections at once, each whole, each half-closed', async () => {
      await using server = await startPodServer();
      await using forward = await openPortForward(server.client(refused), web);
      assert.equal(forward.protocol, protocol);
      const all = Array.from({ length: 20 }, async (_, index) => {
        const sent = bytes.subarray(index, index + 300_000);
        const { data, failure } = forward.connect(80);
        data.end(sent);
        assert.ok((await buffer(data)).equals(sent));
        assert.equal(await failure, undefined);
      });
      await Promise.all(all);
    });

    test('megabytes on several at once, whose readers come and go', async () => {
      await using server = await startPodServer();
      await using forward = await openPortForward(server.client(refused), web);
      const all = Array.from({ length: 3 }, async () => {
        const { data } = forward.connect(80);
        data.end(bytes);
        assert.ok((await buffer(data)).equals(bytes));
      });
      await Promise.all(all);
    });

    test('a port where nobody listens breaks that connection alone', async () => {
      await using server = await startPodServer();
      await using forward = await openPortForward(server.client(refused), web);
      const good = forward.connect(80);
      const bad = forward.connect(81);
      const refusal = await bad.failure;
      assert.equal(refusal?.code, 'ERR_PORT_FORWARD');
      assert.match(refusal.message, /^error forwarding port 81 to pod web, .*connection refused$/);
      assert.ok(bad.data.destroyed);
      good.data.end('still');
      assert.equal(await text(good.data), 'still');
    });

    test('when its carrier is gone what was open is broken, not ended', async () => {
      await using server = await startPodServer();
      const abort = new AbortController();
      const forward = await openPortForward(server.client(refused), { ...web, signal: abort.signal });
      const { data } = forward.connect(80);
      data.write('x');
      await once(data, 'data');
      abort.abort();
      await assert.rejects(buffer(data), { code: 'ERR_STREAM_LOST' });
      await forward.gone;
    });

    test('what is destroyed here is let go of there', async () => {
      await using server = await startPodServer();
      await using forward = await openPortForward(server.client(refused), web);
      const { data } = forward.connect(80);
      data.write('x');
      await once(data, 'data');
      const echo = server.backend.dialed[0] as PassThrough;
      const closed = once(echo, 'close');
      data.destroy();
      await closed;
    });
  });
}
