import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { KubeObject } from '@asterism/machinery';
import { dependenciesOf } from './dependencies.ts';
import { deployment } from '../place/testing/build.ts';

const named = (template: KubeObject) => dependenciesOf(template).map(({ kind, name }) => `${kind}/${name}`);

describe('dependenciesOf', () => {
  const rows: { name: string; podSpec: object; expected: string[] }[] = [
    { name: 'none', podSpec: {}, expected: [] },
    {
      name: 'volumes',
      podSpec: {
        volumes: [
          { name: 'a', configMap: { name: 'conf' } },
          { name: 'b', secret: { secretName: 'key' } },
        ],
      },
      expected: ['ConfigMap/conf', 'Secret/key'],
    },
    {
      name: 'claims',
      podSpec: { volumes: [{ name: 'a', persistentVolumeClaim: { claimName: 'data' } }] },
      expected: ['PersistentVolumeClaim/data'],
    },
    {
      name: 'projected',
      podSpec: {
        volumes: [{ name: 'a', projected: { sources: [{ configMap: { name: 'c' } }, { secret: { name: 's' } }] } }],
      },
      expected: ['ConfigMap/c', 'Secret/s'],
    },
    {
      name: 'storage drivers',
      podSpec: { volumes: [{ name: 'a', csi: { driver: 'd', nodePublishSecretRef: { name: 'login' } } }] },
      expected: ['Secret/login'],
    },
    {
      name: 'environment of containers and init containers',
      podSpec: {
        containers: [
          {
            name: 'web',
            envFrom: [{ configMapRef: { name: 'env' } }],
            env: [{ name: 'K', valueFrom: { secretKeyRef: { name: 'key', key: 'k' } } }],
          },
        ],
        initContainers: [
          { name: 'init', env: [{ name: 'K', valueFrom: { configMapKeyRef: { name: 'init', key: 'k' } } }] },
        ],
      },
      expected: ['ConfigMap/env', 'ConfigMap/init', 'Secret/key'],
    },
    {
      name: 'pull secrets and service account',
      podSpec: { imagePullSecrets: [{ name: 'pull' }], serviceAccountName: 'web' },
      expected: ['Secret/pull', 'ServiceAccount/web'],
    },
    { name: 'the default service account is everywhere', podSpec: { serviceAccountName: 'default' }, expected: [] },
    {
      name: 'each once',
      podSpec: { imagePullSecrets: [{ name: 'a' }], volumes: [{ name: 'v', secret: { secretName: 'a' } }] },
      expected: ['Secret/a'],
    },
  ];
  for (const { name, podSpec, expected } of rows) {
    test(name, () => assert.deepEqual(named(deployment(1, { podSpec })), expected));
  }

  test('a CronJob names its pods one level deeper', () => {
    const spec = { jobTemplate: { spec: { template: { spec: { containers: [], serviceAccountName: 'night' } } } } };
    assert.deepEqual(named({ apiVersion: 'batch/v1', kind: 'CronJob', metadata: { name: 'x' }, spec }), [
      'ServiceAccount/night',
    ]);
  });

  test('a custom resource may have several kinds of pods', () => {
    const pods = (name: string) => ({ spec: { containers: [{ name: 'c', envFrom: [{ secretRef: { name } }] }] } });
    const spec = {
      headGroupSpec: { template: pods('head') },
      workers: [{ podTemplate: pods('few') }, { podTemplate: pods('many') }],
    };
    assert.deepEqual(named({ apiVersion: 'ray.io/v1', kind: 'RayCluster', metadata: { name: 'x' }, spec }), [
      'Secret/few',
      'Secret/head',
      'Secret/many',
    ]);
  });

  test('what only looks like pods is no fault', () => {
    const containers = [null, { name: 'c', env: 'none', envFrom: [null, { secretRef: { name: 7 } }] }];
    const pods = { containers, volumes: { a: 1 }, imagePullSecrets: [{ name: 'pull' }, 'x'] };
    const spec = { fooTemplate: { spec: { ...pods, initContainers: 'no' } } };
    assert.deepEqual(named({ apiVersion: 'example.com/v1', kind: 'Foo', metadata: { name: 'x' }, spec }), [
      'Secret/pull',
    ]);
  });

  test('a claim that a StatefulSet makes is none', () => {
    const template = deployment(1, {
      podSpec: { volumes: [{ name: 'data', persistentVolumeClaim: { claimName: 'data' } }] },
    });
    const spec = { ...(template['spec'] as object), volumeClaimTemplates: [{ metadata: { name: 'data' } }] };
    assert.deepEqual(named({ ...template, kind: 'StatefulSet', spec }), []);
  });

  test('a service account needs its pull secrets, and no tokens', () => {
    const lists = { imagePullSecrets: [{ name: 'pull' }, {}], secrets: [{ name: 'robot-token-abcde' }] };
    assert.deepEqual(named({ apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'robot' }, ...lists }), [
      'Secret/pull',
    ]);
  });

  test('an Ingress needs its certificates', () => {
    const spec = { tls: [{ secretName: 'cert' }, { hosts: ['a'] }] };
    assert.deepEqual(named({ apiVersion: 'networking.k8s.io/v1', kind: 'Ingress', metadata: { name: 'x' }, spec }), [
      'Secret/cert',
    ]);
  });
});
