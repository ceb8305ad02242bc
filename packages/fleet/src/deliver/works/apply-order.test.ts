import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { KubeObject } from '@asterism/machinery';
import { clusterNamespace, type Work } from '../../api/index.ts';
import { placesBefore, placesOf, stageOfWork } from './apply-order.ts';

const RBAC = 'rbac.authorization.k8s.io/v1';

const object = (apiVersion: string, kind: string, namespace?: string, name = 'x'): KubeObject => ({
  apiVersion,
  kind,
  metadata: { name, ...(namespace ? { namespace } : {}) },
});
const work = (manifests: KubeObject[], cluster = 'ant'): Work => ({
  apiVersion: 'asterism.dev/v1alpha1',
  kind: 'Work',
  metadata: { name: 'w', namespace: clusterNamespace(cluster) },
  spec: { manifests },
});

const deployment = object('apps/v1', 'Deployment', 'shop');
const secret = object('v1', 'Secret', 'shop');
const account = object('v1', 'ServiceAccount', 'shop');
const roleBinding = object(RBAC, 'RoleBinding', 'shop');
const clusterRole = object(RBAC, 'ClusterRole');
const definition = object('apiextensions.k8s.io/v1', 'CustomResourceDefinition');
const namespace = object('v1', 'Namespace', undefined, 'shop');

describe('which Work of a cluster goes before which', () => {
  const rows: { name: string; first: Work; second: Work; isBefore: boolean }[] = [
    { name: 'a Secret, and a Deployment beside it', first: work([secret]), second: work([deployment]), isBefore: true },
    {
      name: 'a Secret of another namespace',
      first: work([object('v1', 'Secret', 'bank')]),
      second: work([deployment]),
      isBefore: false,
    },
    {
      name: 'a Secret in another cluster',
      first: work([secret], 'bee'),
      second: work([deployment]),
      isBefore: false,
    },
    {
      name: 'a kind that is called as one of Kubernetes',
      first: work([object('example.com/v1', 'Secret', 'shop')]),
      second: work([deployment]),
      isBefore: false,
    },
    { name: 'two Secrets', first: work([secret]), second: work([secret]), isBefore: false },
    {
      name: 'two Deployments',
      first: work([deployment]),
      second: work([deployment]),
      isBefore: false,
    },
    { name: 'an account, and its token', first: work([account]), second: work([secret]), isBefore: true },
    {
      name: 'a role, and what binds it',
      first: work([object(RBAC, 'Role', 'shop')]),
      second: work([roleBinding]),
      isBefore: true,
    },
    { name: 'what is of no namespace', first: work([clusterRole]), second: work([deployment]), isBefore: true },
    {
      name: 'what is in a namespace, and what is in none',
      first: work([secret]),
      second: work([object('admissionregistration.k8s.io/v1', 'ValidatingWebhookConfiguration')]),
      isBefore: false,
    },
    { name: 'a definition, and any object', first: work([definition]), second: work([deployment]), isBefore: true },
    { name: 'a Namespace, and what is in it', first: work([namespace]), second: work([secret]), isBefore: true },
    {
      name: 'a Namespace, and what is in another',
      first: work([namespace]),
      second: work([object('v1', 'Secret', 'bank')]),
      isBefore: false,
    },
    { name: 'a Namespace, and a definition', first: work([namespace]), second: work([definition]), isBefore: false },
    {
      name: 'one of many objects is in the namespace',
      first: work([secret]),
      second: work([object('apps/v1', 'Deployment', 'bank'), deployment]),
      isBefore: true,
    },
    {
      name: 'one that is as late as its last object',
      first: work([secret, deployment]),
      second: work([deployment]),
      isBefore: false,
    },
    { name: 'one without objects', first: work([]), second: work([deployment]), isBefore: false },
  ];
  for (const { name, first, second, isBefore } of rows)
    test(`${name}: ${isBefore ? 'before' : 'not before'}`, () => {
      const goesBefore = (a: Work, b: Work): boolean => placesOf(a).some((place) => placesBefore(b).includes(place));
      assert.equal(goesBefore(first, second), isBefore);
      assert.ok(!isBefore || stageOfWork(first) < stageOfWork(second), 'or two could wait for each other');
      assert.ok(!(isBefore && goesBefore(second, first)));
    });

  test('the earliest is looked for first', () => {
    const stages = placesBefore(work([deployment])).map((place) => Number(place.split('/')[1]));
    assert.deepEqual(
      stages,
      stages.toSorted((a, b) => a - b),
    );
  });
});
