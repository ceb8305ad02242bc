import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Pod } from '@asterism/machinery';
import { formatAmounts } from './amounts.ts';
import { podRequests } from './pod-requests.ts';
import { container } from './testing/container.ts';

describe('podRequests', () => {
  const rows: { name: string; spec: NonNullable<Pod['spec']>; expect: Record<string, string> }[] = [
    { name: 'nothing asked for', spec: { containers: [container({})] }, expect: {} },
    {
      name: 'containers add up',
      spec: { containers: [container({ cpu: '100m', memory: '64Mi' }), container({ cpu: '1' })] },
      expect: { cpu: '1100m', memory: '64Mi' },
    },
    {
      name: 'the largest init container counts where it is larger than all the rest',
      spec: {
        initContainers: [container({ cpu: '2' }), container({ cpu: '500m', memory: '1Gi' })],
        containers: [container({ cpu: '100m', memory: '64Mi' })],
      },
      expect: { cpu: '2', memory: '1Gi' },
    },
    {
      name: 'a sidecar counts with the containers',
      spec: { initContainers: [container({ cpu: '1' }, 'Always')], containers: [container({ cpu: '1' })] },
      expect: { cpu: '2' },
    },
    {
      name: 'a sidecar that started before an init container counts with that too',
      spec: {
        initContainers: [container({ cpu: '1' }, 'Always'), container({ cpu: '3' }), container({ cpu: '1' }, 'Always')],
        containers: [container({ cpu: '1' })],
      },
      expect: { cpu: '4' },
    },
    {
      name: 'overhead comes on top',
      spec: { overhead: { cpu: '250m' }, containers: [container({ cpu: '1' })] },
      expect: { cpu: '1250m' },
    },
    {
      name: 'what is asked for the pod as a whole takes the place of what its containers ask for',
      spec: {
        resources: { requests: { cpu: '3' } },
        overhead: { cpu: '250m' },
        containers: [container({ cpu: '1', memory: '64Mi' })],
      },
      expect: { cpu: '3250m', memory: '64Mi' },
    },
    {
      name: 'a part of a thousandth of a core counts as a whole one, as do parts of bytes',
      spec: { containers: [container({ cpu: '100u', memory: '1500m' })] },
      expect: { cpu: '1m', memory: '2' },
    },
  ];
  for (const { name, spec, expect } of rows) {
    test(name, () => {
      assert.deepEqual(formatAmounts(podRequests({ spec })) ?? {}, expect);
    });
  }

  const resized = (conditions: { type: string; reason: string }[]): Pod => ({
    spec: { containers: [container({ cpu: '4' })] },
    status: {
      conditions: conditions.map((each) => ({ ...each, status: 'True' })),
      containerStatuses: [
        {
          name: 'c',
          image: 'i',
          imageID: '',
          ready: true,
          restartCount: 0,
          allocatedResources: { cpu: '2' },
          resources: { requests: { cpu: '3' } },
        },
      ],
    },
  });

  test('a container that is being resized counts with the most of what it asks for, was granted and has', () => {
    assert.deepEqual(podRequests(resized([])), { cpu: 4_000 });
  });

  test('what it asks for does not count where its node can never give it', () => {
    assert.deepEqual(podRequests(resized([{ type: 'PodResizePending', reason: 'Infeasible' }])), { cpu: 3_000 });
  });
});
