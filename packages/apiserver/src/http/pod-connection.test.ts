import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isStatusError } from '@asterism/machinery';
import { openTestRegistry } from '../compose/testing/test-registry.ts';
import { checkPodConnection } from './pod-connection.ts';

const containers = ['a', 'b'].map((name) => ({ name, image: 'i' }));
const single = containers.slice(0, 1);

const rows: [
  name: string,
  spec: object,
  subresource: string,
  query: string,
  answer: 'empty' | 'node' | [code: number, message: string],
][] = [
  ['the log of a pod without a node', { containers: single }, 'log', '', 'empty'],
  ['the log of a pod on a node', { containers: single, nodeName: 'n' }, 'log', 'tailLines=0', 'node'],
  ['the log of a pod on no node', { containers: single, nodeName: 'gone' }, 'log', '', [404, 'pods "gone" not found']],
  [
    'none of several containers',
    { containers },
    'log',
    '',
    [400, 'a container name must be specified for pod p, choose one of: [a b]'],
  ],
  ['another container', { containers }, 'exec', 'container=c', [400, 'container c is not valid for pod p']],
  ['exec without a node', { containers }, 'exec', 'container=a', [400, 'pod p does not have a host assigned']],
  ['ports without a node', { containers }, 'portforward', '', [400, 'pod p does not have a host assigned']],
  ['a proxy to no address', { containers }, 'proxy', '', [400, 'address not allowed']],
  [
    'options that cannot be',
    { containers: single },
    'log',
    'tailLines=-1&limitBytes=0&sinceSeconds=0',
    [
      422,
      'PodLogOptions "p" is invalid: [tailLines: Invalid value: -1: must be greater than or equal to 0, limitBytes: Invalid value: 0: must be greater than 0, sinceSeconds: Invalid value: 0: must be greater than 0]',
    ],
  ],
];

for (const [name, spec, subresource, query, answer] of rows) {
  test(name, async () => {
    await using t = await openTestRegistry();
    await t.create('v1/nodes', { metadata: { name: 'n' } });
    await t.create('v1/pods', { metadata: { name: 'p' }, spec });
    const outcome = await checkPodConnection({
      registry: t.registry,
      pods: t.resource('v1/pods'),
      ref: { namespace: 'default', name: 'p' },
      subresource,
      query: new URLSearchParams(query),
    }).catch((error: unknown) => (isStatusError(error) ? [error.code, error.message] : Promise.reject(error)));
    assert.deepEqual(outcome, answer);
  });
}
