import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PodSpec } from '@asterism/machinery';
import { app, PodLifeRig } from '../../testing/pod-life-rig.ts';

const RUNNING = { running: { startedAt: '1970-01-01T00:16:00Z' } };

test('a pod starts after its time, in one step, and is ready', async () => {
  const rig = new PodLifeRig({}, { startMs: 300 });
  await rig.sync();
  assert.deepEqual(rig.step, { after: 300, quiet: true });
  await rig.after(300);
  assert.deepEqual([rig.status.phase, rig.condition('Ready'), rig.status.podIP], ['Running', 'True', '10.0.0.2']);
  assert.deepEqual(rig.step, {});
  assert.equal(rig.container()?.ready, true);
  assert.deepEqual(rig.events, [
    'Pulled: Container image "web:1" already present on machine',
    'Created: Created container: app',
    'Started: Started container app',
  ]);
});

const ends: [name: string, policy: PodSpec['restartPolicy'], scripts: string[], expected: string][] = [
  ['all went well', 'Never', ['true', 'true'], 'Succeeded'],
  ['one failed', 'Never', ['true', 'exit 3'], 'Failed'],
  ['all went well, where failures are restarted', 'OnFailure', ['true'], 'Succeeded'],
];
for (const [name, restartPolicy, scripts, expected] of ends) {
  test(`a pod ends when its containers have: ${name}`, async () => {
    const containers = scripts.map((script, index) => app(script, { name: `c${index}` }));
    const rig = new PodLifeRig({ restartPolicy: restartPolicy!, containers });
    await rig.until(() => rig.status.phase === expected);
    assert.equal(rig.condition('Ready'), 'False');
    assert.equal(rig.container('c0')?.state?.terminated?.exitCode, 0);
  });
}

test('a container that crashes is started at once, then after 10 s, 20 s and so on, and anew after ten good minutes', async () => {
  const rig = new PodLifeRig({ containers: [app('echo run; exit 1')] });
  const waits: (number | undefined)[] = [];
  for (let restarts = 1; restarts <= 7; restarts++) {
    await rig.until(() => rig.container()?.state?.waiting?.reason === 'CrashLoopBackOff');
    assert.equal(rig.container()?.restartCount, restarts);
    assert.equal(rig.container()?.lastState?.terminated?.exitCode, 1);
    waits.push(Math.ceil((rig.step.after ?? 0) / 10_000) * 10);
    await rig.after(rig.step.after ?? 0);
  }
  assert.deepEqual(waits, [10, 20, 40, 80, 160, 300, 300]);
  assert.match(rig.events.join('\n'), /BackOff: Back-off restarting failed container app in pod web_demo\(u1\)/);
  assert.equal(await rig.log('app', true), 'run\n');
});

test('init containers run one after the other, then the others; what they leave is there', async () => {
  const volumeMounts = [{ name: 'scratch', mountPath: '/scratch' }];
  const rig = new PodLifeRig({
    restartPolicy: 'Never',
    volumes: [{ name: 'scratch', emptyDir: {} }],
    initContainers: [
      app('echo 1 >> /scratch/file', { name: 'first', volumeMounts }),
      app('echo 2 >> /scratch/file', { name: 'second', volumeMounts }),
    ],
    containers: [app('cat /scratch/file', { volumeMounts })],
  });
  await rig.sync();
  assert.deepEqual([rig.status.phase, rig.container()?.state], ['Pending', { waiting: { reason: 'PodInitializing' } }]);
  await rig.until(() => rig.status.phase === 'Succeeded');
  assert.equal(await rig.log(), '1\n2\n');
  assert.equal(rig.condition('Initialized'), 'True');
});

test('an init container that fails is tried again, or ends a pod that is never restarted', async () => {
  const initContainers = [app('exit 2', { name: 'first' })];
  const tried = new PodLifeRig({ initContainers });
  await tried.until(() => tried.container('first')?.state?.waiting?.reason === 'CrashLoopBackOff');
  assert.equal(tried.condition('Initialized'), 'False');
  const never = new PodLifeRig({ initContainers, restartPolicy: 'Never' });
  await never.until(() => never.status.phase === 'Failed');
  assert.equal(never.container()?.restartCount, 0);
});

test('a sidecar starts before the others, and is ended after them', async () => {
  const rig = new PodLifeRig({
    restartPolicy: 'Never',
    initContainers: [app(undefined, { name: 'proxy', restartPolicy: 'Always' })],
    containers: [app('true')],
  });
  await rig.until(() => rig.status.phase === 'Succeeded');
  assert.equal(rig.container('proxy')?.state?.terminated?.exitCode, 0);
  const started = rig.events.filter((event) => event.startsWith('Started'));
  assert.deepEqual(started, ['Started: Started container proxy', 'Started: Started container app']);
});

test('readiness follows its probe, by its thresholds', async () => {
  const exec = { command: ['test', '-f', '/tmp/ok'] };
  const rig = new PodLifeRig({
    containers: [
      app(undefined, { readinessProbe: { exec, periodSeconds: 5, successThreshold: 2, failureThreshold: 1 } }),
    ],
  });
  await rig.sync();
  assert.deepEqual([rig.container()?.started, rig.container()?.ready, rig.condition('Ready')], [true, false, 'False']);
  const probe = async (): Promise<void> => {
    rig.clock.advance(5000);
    // The next time is set when this one has ended.
    await rig.clock.timer((ms) => ms === 5000);
    await rig.sync();
  };
  const seen: (boolean | undefined)[] = [];
  for (const command of [['true'], ['touch', '/tmp/ok'], ['true'], ['rm', '/tmp/ok']]) {
    await rig.exec(command);
    await probe();
    seen.push(rig.container()?.ready);
  }
  assert.deepEqual(seen, [false, false, true, false]);
});

test('a container whose liveness fails is ended and started anew', async () => {
  const livenessProbe = { tcpSocket: { port: 81 }, failureThreshold: 1, initialDelaySeconds: 1 };
  const rig = new PodLifeRig({ containers: [app(undefined, { livenessProbe, ports: [{ containerPort: 80 }] })] });
  await rig.sync();
  rig.clock.advance(1000);
  await rig.until(() => rig.container()?.restartCount === 1);
  assert.ok(rig.events.includes('Unhealthy: Liveness probe failed: dial tcp 10.0.0.2:81: connect: connection refused'));
  assert.ok(rig.events.includes('Killing: Container app failed liveness probe, will be restarted'));
});

test('what is missing is waited for: a volume, then a variable', async () => {
  const rig = new PodLifeRig({
    volumes: [{ name: 'settings', configMap: { name: 'settings' } }],
    containers: [
      app('cat /etc/app/color; echo " $COLOR"; sleep 100', {
        env: [{ name: 'COLOR', valueFrom: { secretKeyRef: { name: 'key', key: 'color' } } }],
        volumeMounts: [{ name: 'settings', mountPath: '/etc/app' }],
      }),
    ],
  });
  await rig.sync();
  assert.deepEqual(rig.container()?.state, { waiting: { reason: 'ContainerCreating' } });
  assert.deepEqual(rig.events, [
    'FailedMount: MountVolume.SetUp failed for volume "settings" : configmap "settings" not found',
  ]);
  rig.give({ 'ConfigMap/settings': { color: 'green' } });
  await rig.after(1000);
  assert.deepEqual(rig.container()?.state?.waiting, {
    reason: 'CreateContainerConfigError',
    message: 'secret "key" not found',
  });
  rig.give({ 'Secret/key': { color: 'red' } });
  await rig.after(1000);
  assert.equal(rig.status.phase, 'Running');
});

test('an image that cannot be had is tried for again', async () => {
  const rig = new PodLifeRig({ containers: [app(undefined, { image: 'registry.invalid/web:1' })] });
  await rig.sync();
  assert.equal(rig.container()?.state?.waiting?.reason, 'ErrImagePull');
  await rig.after(rig.step.after ?? 0);
  assert.equal(rig.container()?.state?.waiting?.reason, 'ImagePullBackOff');
  assert.equal(rig.status.phase, 'Pending');
  rig.pod = { ...rig.pod, spec: { containers: [app(undefined, { image: 'web:2' })] } };
  await rig.sync();
  assert.deepEqual([rig.status.phase, rig.container()?.image], ['Running', 'web:2']);
});

test('a deadline ends a pod', async () => {
  const rig = new PodLifeRig({ activeDeadlineSeconds: 60 });
  await rig.sync();
  assert.equal(rig.step.after, 60_000 - (rig.clock.wall().getTime() % 1000));
  await rig.after(60_000);
  await rig.until(() => rig.status.phase === 'Failed');
  assert.equal(rig.status.reason, 'DeadlineExceeded');
});

test('a deleted pod is told to end, and made to when its grace is over', async () => {
  const rig = new PodLifeRig({ containers: [app("trap '' TERM; echo up; while true; do sleep 1000; done")] });
  await rig.sync();
  await rig.said();
  await rig.delete(30);
  assert.ok(!rig.step.gone);
  rig.clock.advance(30_000);
  await rig.until(() => rig.step.gone === true);
  assert.equal(rig.container()?.state?.terminated?.exitCode, 137);
  assert.ok(rig.events.includes('Killing: Stopping container app'));
});

test('a hook runs before the end', async () => {
  const preStop = { exec: { command: ['sh', '-c', 'echo bye > /data/said'] } };
  const watch = 'echo up; while ! test -f /data/said; do read -t 1 x < /dev/null; done; cat /data/said';
  const volumeMounts = [{ name: 'data', mountPath: '/data' }];
  const rig = new PodLifeRig({
    volumes: [{ name: 'data', emptyDir: {} }],
    containers: [
      app(undefined, { lifecycle: { preStop }, volumeMounts }),
      app(`trap '' TERM; ${watch}`, { name: 'other', volumeMounts }),
    ],
  });
  await rig.sync();
  await rig.said('other');
  await rig.delete(30);
  await rig.until(() => rig.step.gone === true);
  assert.equal(await rig.log('other'), 'up\nbye\n');
});

test('a hook that fails after the start ends the container', async () => {
  const lifecycle = { postStart: { exec: { command: ['false'] } } };
  const rig = new PodLifeRig({ containers: [app(undefined, { lifecycle })] });
  await rig.until(() => rig.container()?.state?.waiting?.reason === 'CrashLoopBackOff');
  assert.ok(rig.events.includes('FailedPostStartHook: PostStartHook failed'));
});

const words: [name: string, script: string, policy: 'File' | 'FallbackToLogsOnError', expected: string | undefined][] =
  [
    ['what it wrote for that', 'echo no room > /dev/termination-log; exit 1', 'File', 'no room\n'],
    ['the end of its log, where it asks for that', 'echo line; exit 1', 'FallbackToLogsOnError', 'line\n'],
    ['nothing', 'echo line; exit 1', 'File', undefined],
  ];
for (const [name, script, terminationMessagePolicy, expected] of words) {
  test(`a container leaves as its last words ${name}`, async () => {
    const rig = new PodLifeRig({ restartPolicy: 'Never', containers: [app(script, { terminationMessagePolicy })] });
    await rig.until(() => rig.status.phase === 'Failed');
    assert.equal(rig.container()?.state?.terminated?.message, expected);
  });
}

test('after a restart of its node a pod runs again where it may', async () => {
  const state = {
    name: 'app',
    image: 'web:1',
    imageID: '',
    ready: true,
    restartCount: 2,
    containerID: 'x',
    state: RUNNING,
  };
  const status = { phase: 'Running' as const, containerStatuses: [state], podIP: '10.0.0.2' };
  const again = new PodLifeRig({}, { status, startMs: 1000 });
  await again.sync();
  assert.deepEqual([again.status.phase, again.container()?.restartCount], ['Running', 3]);
  assert.deepEqual(again.container()?.lastState?.terminated?.exitCode, 255);
  const never = new PodLifeRig({ restartPolicy: 'Never' }, { status });
  await never.sync();
  assert.deepEqual([never.status.phase, never.container()?.state?.terminated?.reason], ['Failed', 'Unknown']);
});

test('a readiness gate of others keeps a pod from being ready', async () => {
  const rig = new PodLifeRig({ readinessGates: [{ conditionType: 'example.com/ok' }] });
  await rig.sync();
  assert.deepEqual([rig.condition('ContainersReady'), rig.condition('Ready')], ['True', 'False']);
  const conditions = [...(rig.pod.status?.conditions ?? []), { type: 'example.com/ok', status: 'True' }];
  rig.pod = { ...rig.pod, status: { ...rig.pod.status, conditions } };
  await rig.sync();
  assert.deepEqual([rig.condition('Ready'), rig.condition('example.com/ok')], ['True', 'True']);
});
