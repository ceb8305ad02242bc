import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { Readable } from 'node:stream';
import { buffer, text } from 'node:stream/consumers';
import { test } from 'node:test';
import { Agent, request } from 'node:http';
import type { LogOptions, Process } from './container-runtime.ts';
import { startTestContainer, type TestContainer, testSpec } from './test-container.ts';

const LIMIT = { timeout: 20_000 };
const PLAIN: LogOptions = { follow: false, previous: false, timestamps: false };

function sh(script: string): string[] {
  return ['sh', '-c', script];
}

/** Waits until an output ends with that, and gives what came. */
async function reads(stream: Readable, end: string): Promise<string> {
  let seen = '';
  while (!seen.endsWith(end)) {
    const chunk = stream.read() as Buffer | null;
    if (chunk) seen += chunk.toString();
    else if (stream.readableEnded) assert.fail(`ended after ${JSON.stringify(seen)}`);
    else await once(stream, 'readable');
  }
  return seen;
}

function logText(
  { runtime, ref }: TestContainer,
  options: Partial<LogOptions> = {},
  signal = new AbortController().signal,
): Promise<string> {
  return text(Readable.from(runtime.logs(ref, { ...PLAIN, ...options }, signal)));
}

const ends: Record<
  string,
  { command: string[]; signal?: 'TERM' | 'KILL'; exit: { code: number; signal?: string }; log?: string }
> = {
  'a script': { command: sh('echo a; exit 3'), exit: { code: 3 }, log: 'a\n' },
  'a program': { command: ['/bin/sh', '-c', 'exec echo b'], exit: { code: 0 }, log: 'b\n' },
  'a script without a trap': { command: sh('echo up; sleep 100'), signal: 'TERM', exit: { code: 143, signal: 'TERM' } },
  'a program that sleeps': { command: ['sleep', '100'], signal: 'TERM', exit: { code: 143, signal: 'TERM' } },
  'a program that is killed': { command: ['sleep', '100'], signal: 'KILL', exit: { code: 137, signal: 'KILL' } },
  'a script with a trap': {
    command: sh("trap 'echo bye; exit 4' TERM; while true; do sleep 0.01; done"),
    signal: 'TERM',
    exit: { code: 4 },
    log: 'bye\n',
  },
  'a script that waits in its trap': {
    command: sh("trap 'echo bye; exit 0' TERM; sleep 100 & wait"),
    signal: 'TERM',
    exit: { code: 0 },
    log: 'bye\n',
  },
  'a script that ignores it, killed': {
    command: sh("trap '' TERM; sleep 100"),
    signal: 'KILL',
    exit: { code: 137, signal: 'KILL' },
  },
  'a busy script': { command: sh('while :; do :; done'), signal: 'TERM', exit: { code: 143, signal: 'TERM' } },
  'a program of the image': { command: ['nginx', '-g', 'daemon off;'], signal: 'TERM', exit: { code: 0 } },
  'a program of the image, killed': { command: [], signal: 'KILL', exit: { code: 137, signal: 'KILL' } },
};

for (const [name, { command, signal, exit, log }] of Object.entries(ends)) {
  test(`the end of ${name}`, LIMIT, async () => {
    const container = startTestContainer({ command });
    if (signal) {
      await new Promise((resolve) => setImmediate(resolve));
      container.running.signal(signal);
    }
    assert.deepEqual(await container.running.exit, exit);
    if (log !== undefined) assert.equal(await logText(container), log);
  });
}

test('a process that is started in a container ends with it', LIMIT, async () => {
  const container = startTestContainer();
  const process = await container.exec(['sleep', '100']);
  container.running.signal('TERM');
  assert.deepEqual(await process.exit, { code: 137 });
  await assert.rejects(container.exec(['true']), /container not found \("app"\)/);
});

test('a command that is not there is refused as containerd does', LIMIT, async () => {
  const container = startTestContainer();
  await assert.rejects(
    container.exec(['nothing']),
    /OCI runtime exec failed: .*exec: "nothing": executable file not found in \$PATH/,
  );
  await assert.rejects(container.exec(['/etc/hosts']), /exec: "\/etc\/hosts": permission denied/);
  await assert.rejects(
    container.runtime.exec({ ...container.ref, pod: 'x' }, { command: ['ls'], tty: false, stdin: false }),
    {
      message: 'pod does not exist',
    },
  );
});

test('a shell on a terminal: prompt, echo, editing, size, interrupt and end', LIMIT, async () => {
  const container = startTestContainer();
  const process: Process = await container.exec(['sh'], { tty: true, stdin: true });
  const type = async (typed: string, end: string): Promise<string> => {
    process.stdin.write(typed);
    return reads(process.stdout, end);
  };
  assert.equal(await reads(process.stdout, '# '), '/ # ');
  assert.equal(await type('echo hx\x7fi\r', '/ # '), 'echo hx\b \bi\r\nhi\r\n/ # ');
  process.resize({ columns: 100, rows: 30 });
  assert.equal(await type('stty size\r', '/ # '), 'stty size\r\n30 100\r\n/ # ');
  assert.equal(await type('cd /tmp\r', '# '), 'cd /tmp\r\n/tmp # ');
  await type('while true; do sleep 100; done\r', '\r\n');
  assert.equal(await type('\x03', '/tmp # '), '^C\r\n/tmp # ');
  assert.equal(await type('echo $?\r', '# '), 'echo $?\r\n130\r\n/tmp # ');
  assert.equal(await type('for i in 1\r', '> '), 'for i in 1\r\n> ');
  assert.equal(await type('do echo $i; done\r', '# '), 'do echo $i; done\r\n1\r\n/tmp # ');
  assert.equal(await type('cat\r', '\r\n'), 'cat\r\n');
  assert.equal(await type('x\r', 'x\r\nx\r\n'), 'x\r\nx\r\n');
  assert.equal(await type('\x04', '# '), '/tmp # ');
  process.stdin.write('exit 5\r');
  assert.equal(await text(process.stdout), 'exit 5\r\n');
  assert.deepEqual(await process.exit, { code: 5 });
});

test('^C ends a program on a terminal, ^D a shell', LIMIT, async () => {
  const container = startTestContainer();
  const sleeping = await container.exec(['sleep', '100'], { tty: true, stdin: true });
  sleeping.stdin.write('\x03');
  assert.deepEqual(await sleeping.exit, { code: 130 });
  const shell = await container.exec(['sh'], { tty: true, stdin: true });
  await reads(shell.stdout, '# ');
  shell.stdin.write('\x04');
  assert.deepEqual(await shell.exit, { code: 0 });
});

test('100 MB go in and out unchanged, and no faster than they are read', { timeout: 60_000 }, async () => {
  const container = startTestContainer();
  const sent = randomBytes(100 * 1024 * 1024);
  assert.equal((await container.run(sh('cat >/big'), sent)).code, 0);
  const out = await container.exec(['tar', 'cf', '-', '/big']);
  const into = await container.exec(['tar', 'xmf', '-', '-C', '/tmp'], { stdin: true });
  await once(out.stdout, 'readable');
  assert.ok(out.stdout.readableLength < 1024 * 1024);
  out.stdout.pipe(into.stdin);
  assert.deepEqual([await out.exit, await into.exit], [{ code: 0 }, { code: 0 }]);
  const back = await container.exec(['cat', '/tmp/big']);
  assert.ok((await buffer(back.stdout)).equals(sent));
});

test('a caller that goes away breaks the pipe', LIMIT, async () => {
  const container = startTestContainer();
  const process = await container.exec(['cat', '/dev/zero']);
  await once(process.stdout, 'readable');
  process.stdout.destroy();
  assert.deepEqual(await process.exit, { code: 141 });
});

test('an attached client sees what comes and types', LIMIT, async () => {
  const container = startTestContainer({
    command: sh('while read x; do echo "got $x"; echo e >&2; done; exit 2'),
    stdin: true,
  });
  const attached = await container.runtime.attach(container.ref, { stdin: true, tty: false });
  attached.stdin.write('a\n');
  assert.equal(await reads(attached.stdout, '\n'), 'got a\n');
  assert.equal(await reads(attached.stderr, '\n'), 'e\n');
  attached.stdin.end();
  assert.deepEqual(await attached.exit, { code: 0 });
  assert.deepEqual(await container.running.exit, { code: 2 });
});

test('an attached client that lets go leaves the container as it is', LIMIT, async () => {
  const container = startTestContainer({ command: sh('read x; exit 6'), stdin: true, tty: true });
  const first = await container.runtime.attach(container.ref, { stdin: true, tty: true });
  first.kill('TERM');
  assert.deepEqual(await first.exit, { code: 0 });
  const second = await container.runtime.attach(container.ref, { stdin: true, tty: true });
  second.stdin.write('x\r');
  assert.deepEqual(await container.running.exit, { code: 6 });
});

test('a program of the image answers on its ports', LIMIT, async () => {
  const { runtime, ref } = startTestContainer();
  const page = await new Promise<string>((resolve, reject) => {
    const agent = new Agent();
    agent.createConnection = ((_: unknown, done: (error: Error | null, socket?: unknown) => void) => {
      void runtime.dial(ref, 80).then((socket) => done(null, socket), done);
    }) as unknown as Agent['createConnection'];
    request(
      { agent, path: '/x?y', headers: { connection: 'close' } },
      (response) => void text(response).then(resolve, reject),
    )
      .on('error', reject)
      .end();
  });
  assert.match(page, /Hello from demo\/web-0 .*\nGET \/x\?y\n/s);
  const plain = await runtime.dial(ref, 80);
  plain.end('echo me\n');
  assert.equal(await text(plain), 'echo me\n');
  await assert.rejects(runtime.dial(ref, 81), /failed to connect to localhost:81 .*connection refused/);
});

test('the log of the last run is kept, and follows end with the container', LIMIT, async () => {
  const container = startTestContainer({ command: sh('echo one; read x; echo two'), stdin: true });
  await assert.rejects(
    logText(container, { previous: true }),
    /previous terminated container "app" in pod "web-0" not found/,
  );
  const following = logText(container, { follow: true });
  const attached = await container.runtime.attach(container.ref, { stdin: true, tty: false });
  attached.stdin.end('\n');
  assert.equal(await following, 'one\ntwo\n');
  container.runtime.start(container.ref, testSpec({ command: sh('echo three') }));
  assert.equal(await logText(container, { follow: true }), 'three\n');
  assert.equal(await logText(container, { previous: true }), 'one\ntwo\n');
  container.runtime.remove(container.ref);
  await assert.rejects(logText(container), /pod "web-0" does not exist/);
});

test('tens of thousands of containers at which nobody looks cost next to nothing', LIMIT, () => {
  const { runtime } = startTestContainer();
  const spec = testSpec();
  const before = process.memoryUsage().heapUsed;
  for (let index = 0; index < 20_000; index += 1)
    runtime.start({ namespace: 'demo', pod: `p-${index}`, container: 'app' }, spec);
  const each = (process.memoryUsage().heapUsed - before) / 20_000;
  assert.ok(each < 4096, `${each} bytes each`);
  assert.equal(runtime.stats().length, 20_001);
});

test('usage follows what runs', LIMIT, async () => {
  const idle = startTestContainer();
  const busy = startTestContainer({ command: sh('while :; do :; done') });
  assert.deepEqual(idle.runtime.stats(), idle.runtime.stats());
  assert.ok((idle.runtime.stats()[0]?.cpuNanoCores ?? 0) < 5_000_000);
  const cores = (): number => busy.runtime.stats()[0]?.cpuNanoCores ?? 0;
  while (cores() < 1_000_000_000) await new Promise((resolve) => setTimeout(resolve, 5));
  busy.running.signal('KILL');
  await busy.running.exit;
  assert.deepEqual(busy.runtime.stats(), []);
});
