import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import type { KubeObject } from '@asterism/machinery';
import { OwnerGraph } from './owner-graph.ts';
import type { ServedResource } from '../contract/served-resource.ts';

const LEASES = { type: { group: 'coordination.k8s.io', resource: 'leases' } } as ServedResource;

let graph: OwnerGraph;

beforeEach(() => {
  graph = new OwnerGraph();
});

function lease(uid: string, owners: string[], spec: object = {}): KubeObject {
  const ownerReferences = owners.map((owner) => ({ apiVersion: 'v1', kind: 'Node', name: owner, uid: owner }));
  return { metadata: { namespace: 'ns', name: 'heartbeat', uid, ownerReferences }, spec } as KubeObject;
}

test('an object is new to it with its first owners, with others, and under another uid', () => {
  assert.deepEqual(graph.put(LEASES, lease('1', ['a']))?.owners.length, 1);
  assert.ok(graph.put(LEASES, lease('1', ['a', 'b'])));
  assert.ok(graph.put(LEASES, lease('2', ['a', 'b'])));
  assert.deepEqual(
    graph.dependentsOf('b').map(({ uid }) => uid),
    ['2'],
  );
});

test('one that changed in something else is not', () => {
  graph.put(LEASES, lease('1', ['a']));
  assert.equal(graph.put(LEASES, lease('1', ['a'], { renewTime: 'later' })), undefined);
  assert.equal(graph.dependentsOf('a').length, 1);
});

test('one that lost its owners is forgotten', () => {
  graph.put(LEASES, lease('1', ['a']));
  assert.equal(graph.put(LEASES, lease('1', [])), undefined);
  assert.deepEqual(graph.dependentsOf('a'), []);
  assert.ok(graph.put(LEASES, lease('1', ['a'])));
});
