import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { KubeObject } from '@asterism/machinery';
import type { ResourceSelector } from '../api/index.ts';
import { formatFault, selectorFaults } from './selector-faults.ts';

const policy = (selector: Partial<ResourceSelector>, namespace?: string): KubeObject => ({
  kind: namespace ? 'PropagationPolicy' : 'ClusterPropagationPolicy',
  metadata: { name: 'p', ...(namespace ? { namespace } : {}) },
  spec: {
    resourceSelectors: [
      { apiVersion: 'v1', kind: 'Secret' },
      { apiVersion: 'v1', kind: 'Secret', ...selector },
    ],
  },
});
const unreadable = { labelSelector: { matchLabels: { 'a b': '' } } };

describe('selectorFaults', () => {
  const rows: { name: string; policy: KubeObject; expected: RegExp[] }[] = [
    { name: 'none', policy: policy({ labelSelector: { matchLabels: { a: 'b' } } }, 'demo'), expected: [] },
    { name: 'its own namespace', policy: policy({ namespace: 'demo' }, 'demo'), expected: [] },
    {
      name: 'another namespace',
      policy: policy({ namespace: 'prod' }, 'demo'),
      expected: [
        /^spec\.resourceSelectors\[1\]\.namespace: Invalid value: "prod": .*say "demo"; .* ClusterPropagationPolicy$/,
      ],
    },
    { name: 'any namespace, of the cluster', policy: policy({ namespace: 'prod' }), expected: [] },
    {
      name: 'labels that cannot be read',
      policy: policy(unreadable),
      expected: [/^spec\.resourceSelectors\[1\]\.labelSelector: Invalid value: .*: key: Invalid value: "a b"/],
    },
    { name: 'labels that nobody looks at', policy: policy({ ...unreadable, name: 'x' }), expected: [] },
    { name: 'a policy without selectors', policy: { kind: 'OverridePolicy', metadata: {}, spec: {} }, expected: [] },
  ];
  for (const { name, policy: each, expected } of rows) {
    test(name, () => {
      const faults = selectorFaults(each).map(formatFault);
      assert.equal(faults.length, expected.length, faults.join());
      for (const [index, pattern] of expected.entries()) assert.match(faults[index] ?? '', pattern);
    });
  }
});
