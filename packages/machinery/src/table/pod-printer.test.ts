import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { KubeObject } from '../object.ts';
import { POD_PRINTER } from './pod-printer.ts';

const NOW = Date.parse('2026-01-02T03:04:05Z');
const AN_HOUR_AGO = '2026-01-02T02:04:05Z';

describe('the status of a pod', () => {
  const twoContainers = { containers: [{ name: 'a' }, { name: 'b' }] };
  const running = { ready: true, restartCount: 0, state: { running: {} } };
  const rows: [name: string, pod: KubeObject, cells: Record<string, unknown>][] = [
    [
      'restarts tell when the last was',
      {
        spec: twoContainers,
        status: {
          phase: 'Running',
          containerStatuses: [
            { ...running, restartCount: 2, lastState: { terminated: { finishedAt: AN_HOUR_AGO } } },
            { ...running, restartCount: 1, lastState: { terminated: { finishedAt: '2026-01-01T00:00:00Z' } } },
          ],
        },
      },
      { Ready: '2/2', Status: 'Running', Restarts: '3 (60m ago)' },
    ],
    [
      'the first container that does not run gives the reason',
      {
        spec: twoContainers,
        status: {
          phase: 'Running',
          containerStatuses: [
            { restartCount: 7, state: { waiting: { reason: 'CrashLoopBackOff' } } },
            { restartCount: 0, state: { terminated: { exitCode: 3 } } },
          ],
        },
      },
      { Ready: '0/2', Status: 'CrashLoopBackOff', Restarts: '7' },
    ],
    [
      'an exit code where there is no reason',
      {
        spec: twoContainers,
        status: { phase: 'Failed', containerStatuses: [{ restartCount: 0, state: { terminated: { exitCode: 3 } } }] },
      },
      { Status: 'ExitCode:3' },
    ],
    [
      'completed beside one that failed',
      {
        spec: twoContainers,
        status: {
          phase: 'Running',
          containerStatuses: [
            { restartCount: 0, state: { terminated: { exitCode: 0, reason: 'Completed' } } },
            { restartCount: 0, state: { terminated: { exitCode: 1, reason: 'Error' } } },
          ],
        },
      },
      { Status: 'Error' },
    ],
    [
      'completed beside one that runs, pod ready',
      {
        spec: twoContainers,
        status: {
          phase: 'Running',
          conditions: [{ type: 'Ready', status: 'True' }],
          containerStatuses: [
            { restartCount: 0, state: { terminated: { exitCode: 0, reason: 'Completed' } } },
            running,
          ],
        },
      },
      { Ready: '1/2', Status: 'Running' },
    ],
    [
      'completed beside one that runs, pod not ready',
      {
        spec: twoContainers,
        status: {
          phase: 'Running',
          containerStatuses: [
            { restartCount: 0, state: { terminated: { exitCode: 0, reason: 'Completed' } } },
            running,
          ],
        },
      },
      { Ready: '1/2', Status: 'NotReady' },
    ],
    [
      'the second of three init containers runs',
      {
        spec: { ...twoContainers, initContainers: [{ name: 'x' }, { name: 'y' }, { name: 'z' }] },
        status: {
          phase: 'Pending',
          initContainerStatuses: [
            { name: 'x', restartCount: 1, state: { terminated: { exitCode: 0 } } },
            { name: 'y', restartCount: 2, state: { running: {} } },
            { name: 'z', restartCount: 4, state: { waiting: { reason: 'PodInitializing' } } },
          ],
          containerStatuses: [{ restartCount: 0, state: { waiting: { reason: 'PodInitializing' } } }],
        },
      },
      { Ready: '0/2', Status: 'Init:1/3', Restarts: '3' },
    ],
    [
      'an init container that failed',
      {
        spec: { ...twoContainers, initContainers: [{ name: 'x' }] },
        status: {
          phase: 'Pending',
          initContainerStatuses: [
            { name: 'x', restartCount: 0, state: { terminated: { exitCode: 1, reason: 'Error' } } },
          ],
        },
      },
      { Status: 'Init:Error' },
    ],
    [
      'a sidecar counts as a container, other init containers do not',
      {
        spec: { containers: [{ name: 'a' }], initContainers: [{ name: 'x' }, { name: 's', restartPolicy: 'Always' }] },
        status: {
          phase: 'Running',
          initContainerStatuses: [
            { name: 'x', restartCount: 5, state: { terminated: { exitCode: 0 } } },
            { name: 's', restartCount: 1, ready: true, started: true, state: { running: {} } },
          ],
          containerStatuses: [{ ...running, name: 'a' }],
        },
      },
      { Ready: '2/2', Status: 'Running', Restarts: '1' },
    ],
    [
      'gone with its node',
      {
        metadata: { deletionTimestamp: AN_HOUR_AGO },
        spec: twoContainers,
        status: { phase: 'Running', reason: 'NodeLost' },
      },
      { Status: 'Unknown' },
    ],
    [
      'a pod that has ended does not terminate any more',
      { metadata: { deletionTimestamp: AN_HOUR_AGO }, spec: twoContainers, status: { phase: 'Succeeded' } },
      { Status: 'Succeeded' },
    ],
    [
      'wide',
      {
        spec: { ...twoContainers, nodeName: 'n1', readinessGates: [{ conditionType: 'x' }, { conditionType: 'y' }] },
        status: { podIP: '10.1.2.3', nominatedNodeName: 'n2', conditions: [{ type: 'y', status: 'True' }] },
      },
      { IP: '10.1.2.3', Node: 'n1', 'Nominated Node': 'n2', 'Readiness Gates': '1/2' },
    ],
  ];
  for (const [name, pod, cells] of rows) {
    test(name, () => {
      const row = POD_PRINTER.row(pod, NOW);
      const shown = Object.fromEntries(POD_PRINTER.columns.map(({ name: column }, i) => [column, row.cells[i]]));
      assert.deepEqual({ ...shown, ...cells }, shown);
    });
  }
});
