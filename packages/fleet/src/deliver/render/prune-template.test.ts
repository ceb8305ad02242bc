import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { KubeObject } from '@asterism/machinery';
import { pruneTemplate } from './prune-template.ts';

describe('pruneTemplate', () => {
  const rows: { name: string; template: KubeObject; expected: KubeObject }[] = [
    {
      name: 'what the server wrote, status and owners',
      template: {
        apiVersion: 'apps/v1',
        kind: 'Deployment',
        metadata: {
          name: 'web',
          namespace: 'demo',
          uid: 'u',
          resourceVersion: '7',
          generation: 2,
          creationTimestamp: '2026-01-01T00:00:00Z',
          labels: { app: 'web' },
          annotations: {
            'deployment.kubernetes.io/revision': '3',
            'kubectl.kubernetes.io/last-applied-configuration': '{}',
            note: 'kept',
          },
          ownerReferences: [{ apiVersion: 'v1', kind: 'X', name: 'x', uid: 'x' }],
          finalizers: ['a/b'],
          managedFields: [],
        },
        spec: { replicas: 2 },
        status: { replicas: 2 },
      },
      expected: {
        apiVersion: 'apps/v1',
        kind: 'Deployment',
        metadata: { name: 'web', namespace: 'demo', labels: { app: 'web' }, annotations: { note: 'kept' } },
        spec: { replicas: 2 },
      },
    },
    {
      name: "a Service's addresses",
      template: {
        apiVersion: 'v1',
        kind: 'Service',
        metadata: { name: 's' },
        spec: { clusterIP: '10.0.0.1', clusterIPs: ['10.0.0.1'], ports: [{ port: 80 }] },
      },
      expected: { apiVersion: 'v1', kind: 'Service', metadata: { name: 's' }, spec: { ports: [{ port: 80 }] } },
    },
    {
      name: 'but not that a Service has none',
      template: {
        apiVersion: 'v1',
        kind: 'Service',
        metadata: { name: 's' },
        spec: { clusterIP: 'None', clusterIPs: ['None'] },
      },
      expected: {
        apiVersion: 'v1',
        kind: 'Service',
        metadata: { name: 's' },
        spec: { clusterIP: 'None', clusterIPs: ['None'] },
      },
    },
    {
      name: "a Job's own labels, selector and time to live",
      template: {
        apiVersion: 'batch/v1',
        kind: 'Job',
        metadata: { name: 'j', labels: { 'batch.kubernetes.io/controller-uid': 'u', mine: 'x' } },
        spec: {
          parallelism: 2,
          ttlSecondsAfterFinished: 10,
          selector: { matchLabels: { 'batch.kubernetes.io/controller-uid': 'u' } },
          template: {
            metadata: { labels: { 'controller-uid': 'u', 'job-name': 'j', mine: 'x' } },
            spec: { containers: [] },
          },
        },
      },
      expected: {
        apiVersion: 'batch/v1',
        kind: 'Job',
        metadata: { name: 'j', labels: { mine: 'x' } },
        spec: { parallelism: 2, template: { metadata: { labels: { mine: 'x' } }, spec: { containers: [] } } },
      },
    },
    {
      name: 'a selector that a Job was given by hand stays',
      template: {
        apiVersion: 'batch/v1',
        kind: 'Job',
        metadata: { name: 'j' },
        spec: { manualSelector: true, selector: { matchLabels: { a: 'b' } } },
      },
      expected: {
        apiVersion: 'batch/v1',
        kind: 'Job',
        metadata: { name: 'j' },
        spec: { manualSelector: true, selector: { matchLabels: { a: 'b' } } },
      },
    },
    {
      name: "a token's data",
      template: {
        apiVersion: 'v1',
        kind: 'Secret',
        type: 'kubernetes.io/service-account-token',
        metadata: {
          name: 't',
          annotations: { 'kubernetes.io/service-account.name': 'web', 'kubernetes.io/service-account.uid': 'u' },
        },
        data: { token: 'eA==' },
      },
      expected: {
        apiVersion: 'v1',
        kind: 'Secret',
        type: 'kubernetes.io/service-account-token',
        metadata: { name: 't', annotations: { 'kubernetes.io/service-account.name': 'web' } },
      },
    },
    {
      name: 'the finalizers in the spec of a Namespace',
      template: {
        apiVersion: 'v1',
        kind: 'Namespace',
        metadata: { name: 'n' },
        spec: { finalizers: ['kubernetes'] },
        status: { phase: 'Active' },
      },
      expected: { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'n' } },
    },
  ];
  for (const { name, template, expected } of rows) {
    test(name, () => {
      const before = structuredClone(template);
      assert.deepEqual(pruneTemplate(template), expected);
      assert.deepEqual(template, before, 'the template was changed');
    });
  }
});
