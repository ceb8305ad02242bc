import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { KubeObject } from '@asterism/machinery';
import { isReserved } from './reserved.ts';

describe('isReserved', () => {
  const object = (kind: string, name: string, namespace?: string, extra: object = {}): KubeObject => ({
    apiVersion: 'v1',
    kind,
    metadata: { name, ...(namespace ? { namespace } : {}) },
    ...extra,
  });
  const accountToken = (name: string, account: string): KubeObject => ({
    ...object('Secret', name, 'demo', { type: 'kubernetes.io/service-account-token' }),
    metadata: { name, namespace: 'demo', annotations: { 'kubernetes.io/service-account.name': account } },
  });
  const definition = (name: string): KubeObject => ({
    ...object('CustomResourceDefinition', name),
    apiVersion: 'apiextensions.k8s.io/v1',
  });
  const rows: [KubeObject, boolean][] = [
    [object('ConfigMap', 'conf', 'demo'), false],
    [object('Secret', 'key', 'demo'), false],
    [object('Secret', 'key', 'asterism-cluster-ant'), true],
    [object('Secret', 'key', 'asterism-system'), true],
    [object('ConfigMap', 'x', 'kube-system'), true],
    [object('ConfigMap', 'kube-root-ca.crt', 'demo'), true],
    [object('ServiceAccount', 'default', 'demo'), true],
    [object('ServiceAccount', 'web', 'demo'), false],
    [object('Service', 'kubernetes', 'default'), true],
    [object('Namespace', 'demo'), false],
    [object('Namespace', 'kube-system'), true],
    [object('Namespace', 'asterism-cluster-ant'), true],
    [object('Secret', 'bootstrap-token-abcdef', 'demo', { type: 'bootstrap.kubernetes.io/token' }), true],
    [accountToken('web-token-x7k2p', 'web'), true],
    [accountToken('web-token', 'web'), false],
    [accountToken('web-token-x7k2p', 'other'), false],
    [{ ...object('Cluster', 'ant'), apiVersion: 'asterism.dev/v1alpha1' }, true],
    [definition('works.asterism.dev'), true],
    [definition('widgets.example.org'), false],
    [{ ...object('APIService', 'v1alpha1.proxy.asterism.dev'), apiVersion: 'apiregistration.k8s.io/v1' }, true],
    [{ ...object('Cluster', 'db', 'demo'), apiVersion: 'postgresql.cnpg.io/v1' }, false],
  ];
  for (const [subject, expected] of rows) {
    const { namespace = '', name } = subject.metadata ?? {};
    test(`${subject.apiVersion} ${subject.kind} ${namespace}/${name}`, () =>
      assert.equal(isReserved(subject), expected));
  }
});
