import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { KubeObject } from '@asterism/machinery';
import { placedBy, promotedTemplate, whyNotPromotable } from './promoted-template.ts';

const metadata = { name: 'x', namespace: 'demo' };
const service = (owned: object): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: {
    ...metadata,
    uid: 'u',
    resourceVersion: '7',
    managedFields: [{ manager: 'kubectl-create', operation: 'Update', fieldsV1: { 'f:spec': owned as never } }],
  },
  spec: {
    clusterIP: '10.0.0.7',
    clusterIPs: ['10.0.0.7'],
    ipFamilies: ['IPv4'],
    ipFamilyPolicy: 'SingleStack',
    ports: [{ port: 80, nodePort: 30080 }],
  },
  status: { loadBalancer: {} },
});

describe('promotedTemplate', () => {
  const rows: { name: string; live: KubeObject; template: object }[] = [
    {
      name: 'a Service loses its addresses and keeps its ports',
      live: service({ 'f:ports': {} }),
      template: { apiVersion: 'v1', kind: 'Service', metadata, spec: { ports: [{ port: 80, nodePort: 30080 }] } },
    },
    {
      name: 'and keeps what somebody asked for',
      live: service({ 'f:ipFamilyPolicy': {} }),
      template: {
        apiVersion: 'v1',
        kind: 'Service',
        metadata,
        spec: { ipFamilyPolicy: 'SingleStack', ports: [{ port: 80, nodePort: 30080 }] },
      },
    },
    {
      name: 'a Pod is bound to no node',
      live: { apiVersion: 'v1', kind: 'Pod', metadata, spec: { nodeName: 'n1', containers: [] } },
      template: { apiVersion: 'v1', kind: 'Pod', metadata, spec: { containers: [] } },
    },
    {
      name: 'a claim has no volume',
      live: {
        apiVersion: 'v1',
        kind: 'PersistentVolumeClaim',
        metadata,
        spec: { volumeName: 'pv', storageClassName: 's' },
      },
      template: { apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata, spec: { storageClassName: 's' } },
    },
    {
      name: 'a volume keeps its claim by name',
      live: {
        apiVersion: 'v1',
        kind: 'PersistentVolume',
        metadata: { name: 'pv' },
        spec: { claimRef: { name: 'c', namespace: 'demo', uid: 'u', resourceVersion: '3' } },
      },
      template: {
        apiVersion: 'v1',
        kind: 'PersistentVolume',
        metadata: { name: 'pv' },
        spec: { claimRef: { name: 'c', namespace: 'demo' } },
      },
    },
    {
      name: 'what is ours, and what only kubectl reads, is left out; the rest stays',
      live: {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: {
          ...metadata,
          labels: { 'asterism.dev/managed': 'w', app: 'web' },
          annotations: { 'asterism.dev/adopted': 'true', 'kubectl.kubernetes.io/last-applied-configuration': '{}' },
          finalizers: ['x/y'],
        },
        data: { key: 'value' },
      },
      template: {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { ...metadata, labels: { app: 'web' } },
        data: { key: 'value' },
      },
    },
  ];
  for (const { name, live, template } of rows) test(name, () => assert.deepEqual(promotedTemplate(live), template));
});

describe('whyNotPromotable', () => {
  const owner = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web', uid: 'u', controller: true };
  const rows: { name: string; live: KubeObject; why: RegExp | undefined }[] = [
    { name: 'a plain object', live: { apiVersion: 'v1', kind: 'ConfigMap', metadata }, why: undefined },
    {
      name: 'made by a controller',
      live: { apiVersion: 'apps/v1', kind: 'ReplicaSet', metadata: { ...metadata, ownerReferences: [owner] } },
      why: /^it is made by Deployment web: promote that$/,
    },
    {
      name: 'going',
      live: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { ...metadata, deletionTimestamp: 'now' } },
      why: /being deleted/,
    },
    {
      name: 'a Node',
      live: { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n' } },
      why: /every cluster has its own/,
    },
    {
      name: 'of a system namespace',
      live: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'x', namespace: 'kube-system' } },
      why: /every cluster has its own/,
    },
  ];
  for (const { name, live, why } of rows) {
    test(name, () => {
      if (why) assert.match(whyNotPromotable(live) ?? '', why);
      else assert.equal(whyNotPromotable(live), undefined);
    });
  }

  test('a Namespace that was made for its content was placed by nobody', () => {
    const namespace = (value: string): KubeObject => ({ metadata: { labels: { 'asterism.dev/managed': value } } });
    assert.deepEqual(
      [placedBy(namespace('auto')), placedBy(namespace('w')), placedBy({})],
      [undefined, 'w', undefined],
    );
  });
});
