import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import type { Process } from '../machine/container-runtime.ts';
import { app, PodLifeRig } from '../testing/pod-life-rig.ts';
import { createPodBackend, unreachableBackend } from './pod-backend.ts';

const REF = { namespace: 'demo', pod: 'web', container: 'app' };
const READ = { follow: false, previous: false, timestamps: false };
const signal = (): AbortSignal => AbortSignal.timeout(10_000);

async function text(log: AsyncIterable<Uint8Array>): Promise<string> {
  let all = '';
  for await (const piece of log) all += Buffer.from(piece).toString();
  return all;
}

const leaving: [name: string, stdinOnce: boolean, leave: (process: Process) => void, ends: boolean][] = [
  ['ends the input, where it is for one only', true, (process) => process.stdin.end(), true],
  ['ends the input, where it is for one only, by vanishing', true, (process) => process.kill('KILL'), true],
  ['leaves the input open for the next', false, (process) => process.stdin.end(), false],
];
for (const [name, stdinOnce, leave, ends] of leaving) {
  test(`who is attached and goes ${name}`, async () => {
    const script = 'echo up; while read -r line; do echo "got $line"; done; echo end';
    const rig = new PodLifeRig({ restartPolicy: 'Never', containers: [app(script, { stdin: true, stdinOnce })] });
    await rig.sync();
    await rig.said();
    const backend = createPodBackend(rig.runtime, () => rig.life);
    const first = await backend.attach(REF, { stdin: true, tty: false });
    first.stdin.write('one\n');
    await once(first.stdout, 'data');
    leave(first);
    if (ends) await rig.until(() => rig.status.phase === 'Succeeded');
    else {
      const second = await backend.attach(REF, { stdin: true, tty: false });
      second.stdin.write('two\n');
      await once(second.stdout, 'data');
    }
    assert.equal(await text(backend.logs(REF, READ, signal())), ends ? 'up\ngot one\nend\n' : 'up\ngot one\ngot two\n');
    rig.life.dispose();
  });
}

test('files are there for who looks into an image of its own', async () => {
  const rig = new PodLifeRig(
    {
      volumes: [{ name: 'settings', configMap: { name: 'settings' } }],
      containers: [app(undefined, { volumeMounts: [{ name: 'settings', mountPath: '/etc/app' }] })],
    },
    { objects: { 'ConfigMap/settings': { color: 'green' } } },
  );
  await rig.sync();
  const backend = createPodBackend(rig.runtime, () => rig.life);
  const process = await backend.exec(REF, { command: ['cat', '/etc/app/color'], tty: false, stdin: false });
  assert.equal(await text(process.stdout), 'green');
});

test('why a container has no log yet', async () => {
  const rig = new PodLifeRig({ containers: [app(undefined, { image: 'web:missing' })] });
  await rig.sync();
  const backend = createPodBackend(rig.runtime, () => rig.life);
  await assert.rejects(
    text(backend.logs(REF, READ, signal())),
    /^StatusError: container "app" in pod "web" is waiting to start: image can't be pulled$/,
  );
});

test('a machine without power answers nobody', async () => {
  const backend = unreachableBackend('192.0.2.1');
  const why = /dial tcp 192\.0\.2\.1:10250: connect: no route to host/;
  await assert.rejects(backend.exec(REF, { command: ['true'], tty: false, stdin: false }), why);
  await assert.rejects(text(backend.logs(REF, READ, signal())), why);
  assert.deepEqual(backend.stats(), []);
});
