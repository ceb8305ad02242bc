import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Container, EnvVar, Pod } from '@asterism/machinery';
import { ConfigError, containerEnvironment } from './container-environment.ts';
import { expandVariables } from './expand-variables.ts';
import { imageFault } from './image-rule.ts';
import { makeContainer } from './make-container.ts';
import { podField, resourceField } from './pod-field.ts';
import { mountedFiles, volumeFault } from './volume-files.ts';

const place = { podIP: '10.0.0.2', hostIP: '192.0.2.1', allocatable: { cpu: '4', memory: '8Gi' } };
const container: Container = {
  name: 'app',
  image: 'web:1',
  resources: { requests: { cpu: '250m' }, limits: { memory: '64Mi' } },
};
const pod: Pod = {
  metadata: {
    name: 'web',
    namespace: 'demo',
    uid: 'u1',
    labels: { b: '2', a: 'x"y' },
    annotations: { 'example.com/note': 'n' },
  },
  spec: { containers: [container], nodeName: 'node-1', serviceAccountName: 'runner' },
};
const data = { 'ConfigMap/settings': { color: 'green', size: '3' }, 'Secret/key': { password: 'secret' } };
const objects = {
  get: async ({ kind, name }: { kind: 'ConfigMap' | 'Secret'; name: string }) => {
    const found = (data as Record<string, Record<string, string>>)[`${kind}/${name}`];
    return found && new Map(Object.entries(found).map(([key, value]) => [key, Buffer.from(value)]));
  },
};

describe('variables', () => {
  const known: Record<string, string> = { A: '1', B: '$(A)' };
  for (const [text, expected] of [
    ['$(A)-$(B)', '1-$(A)'],
    ['$(NONE) $A', '$(NONE) $A'],
    ['$$(A) $$$(A)', '$(A) $1'],
    ['$(A', '$(A'],
  ] as const) {
    test(text, () =>
      assert.equal(
        expandVariables(text, (name) => known[name]),
        expected,
      ),
    );
  }
});

describe('images', () => {
  for (const [image, expected] of [
    ['nginx', undefined],
    ['registry.example:5000/team/web:1.2', undefined],
    [`web@sha256:${'a'.repeat(64)}`, undefined],
    ['registry.invalid/web', 'ErrImagePull'],
    ['web:does-not-exist', 'ErrImagePull'],
    ['Web:1', 'InvalidImageName'],
    ['web:', 'InvalidImageName'],
  ] as const) {
    test(image, () => assert.equal(imageFault(image)?.reason, expected));
  }
});

describe('commands', () => {
  for (const [name, image, command, args, expected] of [
    ['of the container', 'web', ['run', '$(A)'], ['x'], ['run', '1', 'x']],
    ['of arguments that name a program', 'busybox', [], ['sleep', '5'], ['sleep', '5']],
    ["of arguments to the image's own", 'web', [], ['--port=80'], []],
    ['of an image that has a shell', 'docker.io/library/busybox:1.36', [], [], ['sh']],
    ['of any other image', 'web:1', [], [], []],
  ] as const) {
    test(name, () => {
      const made = makeContainer(pod, { name: 'app', image, command: [...command], args: [...args] }, { A: '1' });
      assert.deepEqual(made.command, expected);
    });
  }
});

describe('fields', () => {
  for (const [path, expected] of [
    ['metadata.name', 'web'],
    ['metadata.labels', 'a="x\\"y"\nb="2"'],
    ["metadata.labels['b']", '2'],
    ["metadata.annotations['example.com/note']", 'n'],
    ['spec.serviceAccountName', 'runner'],
    ['status.podIP', '10.0.0.2'],
    ['status.hostIP', '192.0.2.1'],
    ['spec.nothing', undefined],
  ] as const) {
    test(path, () => assert.equal(podField(pod, path, place), expected));
  }
  for (const [resource, divisor, expected] of [
    ['requests.cpu', '1', '1'],
    ['requests.cpu', '1m', '250'],
    ['limits.memory', '1Mi', '64'],
    ['limits.cpu', '0', '4'],
    ['requests.memory', '1', '0'],
  ] as const) {
    test(`${resource} in ${divisor}`, () =>
      assert.equal(resourceField(container, { resource, divisor }, place), expected));
  }
});

describe('an environment', () => {
  const of = (env: EnvVar[], more: Partial<Container> = {}) =>
    containerEnvironment({ ...container, env, ...more }, { pod, place, objects });
  const ref = (name: string, key: string, optional = false): EnvVar => ({
    name: 'V',
    valueFrom: { configMapKeyRef: { name, key, optional } },
  });
  const cases: [name: string, env: EnvVar[], more: Partial<Container>, expected: string | undefined][] = [
    ['has values', [{ name: 'V', value: 'x' }], {}, 'x'],
    [
      'names what came before',
      [
        { name: 'A', value: '1' },
        { name: 'V', value: '$(A)$(Z)' },
      ],
      {},
      '1$(Z)',
    ],
    ['has keys of ConfigMaps', [ref('settings', 'color')], {}, 'green'],
    ['lacks what may be missing', [ref('none', 'color', true)], {}, undefined],
    ['has fields', [{ name: 'V', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } }], {}, 'web'],
    [
      'has all of a Secret, with a prefix',
      [{ name: 'V', value: '$(K_password)' }],
      { envFrom: [{ prefix: 'K_', secretRef: { name: 'key' } }] },
      'secret',
    ],
    ['knows its API server', [{ name: 'V', value: '$(KUBERNETES_SERVICE_PORT)' }], {}, '443'],
  ];
  for (const [name, env, more, expected] of cases) {
    test(name, async () => assert.equal((await of(env, more))['V'], expected));
  }
  for (const [name, env, message] of [
    ['needs its ConfigMap', [ref('none', 'color')], 'configmap "none" not found'],
    ['needs its key', [ref('settings', 'none')], "couldn't find key none in ConfigMap demo/settings"],
  ] as const) {
    test(name, () =>
      assert.rejects(of([...env]), (error) => error instanceof ConfigError && error.message === message),
    );
  }
});

describe('volumes', () => {
  const volumes = [
    { name: 'all', configMap: { name: 'settings' } },
    { name: 'some', secret: { secretName: 'key', items: [{ key: 'password', path: 'deep/word' }] } },
    { name: 'self', downwardAPI: { items: [{ path: 'name', fieldRef: { fieldPath: 'metadata.name' } }] } },
    {
      name: 'token',
      projected: {
        sources: [
          { serviceAccountToken: { path: 'token' } },
          { configMap: { name: 'settings', items: [{ key: 'size', path: 's' }] } },
        ],
      },
    },
  ];
  const given: Pod = { ...pod, spec: { ...pod.spec!, volumes } };
  test('are mounted where they are wanted', async () => {
    const volumeMounts = [
      { name: 'all', mountPath: '/all' },
      { name: 'all', mountPath: '/one', subPath: 'color' },
      { name: 'some', mountPath: '/some' },
      { name: 'some', mountPath: '/inner', subPath: 'deep' },
      { name: 'self', mountPath: '/self' },
      { name: 'token', mountPath: '/token' },
    ];
    const token = async () => 'jwt';
    const files = await mountedFiles({ ...container, volumeMounts }, { pod: given, place, objects, token });
    assert.deepEqual(Object.fromEntries([...files].map(([path, bytes]) => [path, Buffer.from(bytes).toString()])), {
      '/all/color': 'green',
      '/all/size': '3',
      '/one': 'green',
      '/some/deep/word': 'secret',
      '/inner/word': 'secret',
      '/self/name': 'web',
      '/token/s': '3',
      '/token/token': 'jwt',
    });
  });
  for (const [name, volume, expected] of [
    ['that are there', volumes[0], undefined],
    [
      'that are not',
      { name: 'v', secret: { secretName: 'none' } },
      'MountVolume.SetUp failed for volume "v" : secret "none" not found',
    ],
    ['that may be missing', { name: 'v', secret: { secretName: 'none', optional: true } }, undefined],
    [
      'without a key',
      { name: 'v', configMap: { name: 'settings', items: [{ key: 'no', path: 'no' }] } },
      'MountVolume.SetUp failed for volume "v" : references non-existent config key: no',
    ],
  ] as const) {
    test(name, async () => {
      const spec = { ...pod.spec!, volumes: [volume as (typeof volumes)[number]] };
      assert.equal(await volumeFault({ ...pod, spec }, objects), expected);
    });
  }
});
