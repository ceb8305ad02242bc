import assert from 'node:assert/strict';
import { test } from 'node:test';
import { conflicts, parseRequestCounts, storedWrites, subtractCounts, sumCounts } from './request-counts.ts';

const line = (labels: Record<string, string>, count: number): string =>
  `apiserver_request_total{${Object.entries({
    verb: '',
    group: '',
    version: 'v1',
    resource: '',
    subresource: '',
    scope: '',
    code: '200',
    ...labels,
  })
    .map(([name, value]) => `${name}="${value}"`)
    .join(',')}} ${count}`;

const BEFORE = parseRequestCounts(
  [
    '# TYPE apiserver_request_total counter',
    line({ verb: 'POST', group: 'apps', resource: 'deployments', code: '201' }, 5),
    line({ verb: 'PATCH', group: 'coordination.k8s.io', resource: 'leases' }, 10),
    'apiserver_dropped_requests_total 7',
  ].join('\n'),
);

const AFTER = parseRequestCounts(
  [
    line({ verb: 'POST', group: 'apps', resource: 'deployments', code: '201', scope: 'namespace' }, 7),
    line({ verb: 'POST', group: 'apps', resource: 'deployments', code: '201', scope: 'cluster' }, 1),
    line({ verb: 'PATCH', group: 'coordination.k8s.io', resource: 'leases' }, 30),
    line({ verb: 'PATCH', group: 'asterism.dev', resource: 'works', subresource: 'status' }, 4),
    line({ verb: 'PUT', group: 'asterism.dev', resource: 'works', code: '409' }, 2),
    line({ verb: 'POST', group: 'authentication.k8s.io', resource: 'tokenreviews', code: '201' }, 9),
    line({ verb: 'GET', resource: 'pods' }, 100),
    line({ verb: 'PATCH', resource: 'pods', code: '404' }, 3),
  ].join('\n'),
);

test('parseRequestCounts: names a resource by group and subresource', () => {
  assert.deepEqual(BEFORE, [
    { verb: 'POST', resource: 'deployments.apps', code: 201, count: 5 },
    { verb: 'PATCH', resource: 'leases.coordination.k8s.io', code: 200, count: 10 },
  ]);
  assert.equal(AFTER[3]?.resource, 'works.asterism.dev/status');
});

test('subtractCounts: what came since, scopes taken together', () => {
  const added = subtractCounts(AFTER, BEFORE);
  assert.deepEqual(added[0], { verb: 'POST', resource: 'deployments.apps', code: 201, count: 3 });
  assert.equal(added.find(({ resource }) => resource.startsWith('leases'))?.count, 20);
  assert.deepEqual(subtractCounts(AFTER, AFTER), []);
});

test('storedWrites: neither heartbeats, nor reviews, nor reads, nor what was refused', () => {
  const writes = storedWrites(subtractCounts(AFTER, BEFORE));
  assert.deepEqual(
    writes.map(({ resource }) => resource),
    ['deployments.apps', 'works.asterism.dev/status'],
  );
  assert.equal(sumCounts(writes), 7);
});

test('conflicts: writes that were answered 409', () => {
  assert.deepEqual(
    conflicts(AFTER).map(({ resource, count }) => [resource, count]),
    [['works.asterism.dev', 2]],
  );
});
