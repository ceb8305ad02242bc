import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { describe, test } from 'node:test';
import { createClient } from '../client.ts';
import { ManualClock } from '../testing/manual-clock.ts';
import type { Headers, Transport, TransportRequest } from '../transport.ts';

const VERBS = ['get', 'list'];
const kind = (name: string, group = '', version = 'v1') => ({
  responseKind: { group, version, kind: name },
  verbs: VERBS,
});
const item = (resource: string, name: string, more: object = {}) => ({
  resource,
  ...kind(name),
  scope: 'Namespaced',
  ...more,
});

const CORE = {
  kind: 'APIGroupDiscoveryList',
  items: [
    {
      versions: [
        {
          version: 'v1',
          freshness: 'Current',
          resources: [
            item('pods', 'Pod', {
              singularResource: 'pod',
              shortNames: ['po'],
              categories: ['all'],
              subresources: [
                { subresource: 'status', ...kind('Pod') },
                { subresource: 'eviction', ...kind('Eviction', 'policy', 'v1') },
                { subresource: 'log', responseKind: null, verbs: ['get'] },
              ],
            }),
            item('events', 'Event', { singularResource: 'event', shortNames: ['ev'] }),
            item('nodes', 'Node', { singularResource: 'node', scope: 'Cluster', shortNames: ['no'] }),
          ],
        },
      ],
    },
  ],
};
const GROUPS = {
  kind: 'APIGroupDiscoveryList',
  items: [
    {
      metadata: { name: 'apps' },
      versions: [
        { version: 'v1', resources: [item('sets', 'Set', { singularResource: 'set' })] },
        { version: 'v1beta1', resources: [item('sets', 'Set'), item('olds', 'Old')] },
      ],
    },
    { metadata: { name: 'events.k8s.io' }, versions: [{ version: 'v1', resources: [item('events', 'Event')] }] },
    { metadata: { name: 'metrics.k8s.io' }, versions: [{ version: 'v1beta1', freshness: 'Stale' }] },
  ],
};

interface Page {
  status?: number;
  headers?: Headers;
  body: unknown;
}

/** A server that answers by path; `pages` may be changed. */
function serving(pages: Record<string, Page>) {
  const requests: TransportRequest[] = [];
  const transport: Transport = {
    request(request) {
      requests.push(request);
      const { status = 200, headers = {}, body } = pages[request.path] ?? { status: 404, body: 'not found' };
      return Promise.resolve({ status, headers, body: Readable.from([Buffer.from(JSON.stringify(body))]) });
    },
    upgrade: () => Promise.reject(new Error('not here')),
    close: () => Promise.resolve(),
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
  const asked = (): string[] =>
    requests.splice(0).map(({ path, headers }) => path + (headers?.['if-none-match'] ? ' etag' : ''));
  const clock = new ManualClock();
  return { pages, asked, clock, discovery: createClient({ transport, clock }).discovery };
}

const aggregated = () =>
  serving({ '/api': { body: CORE, headers: { etag: '"c"' } }, '/apis': { body: GROUPS, headers: { etag: '"g"' } } });

const legacyList = (groupVersion: string, ...resources: object[]): Page => ({
  body: { kind: 'APIResourceList', groupVersion, resources },
});
const legacy = () =>
  serving({
    '/api': { body: { kind: 'APIVersions', versions: ['v1'] } },
    '/api/v1': legacyList(
      'v1',
      {
        name: 'pods',
        singularName: '',
        namespaced: true,
        kind: 'Pod',
        verbs: VERBS,
        shortNames: ['po'],
        categories: ['all'],
      },
      { name: 'pods/eviction', group: 'policy', version: 'v1', kind: 'Eviction', verbs: ['create'] },
      { name: 'pods/log', kind: 'Pod', verbs: ['get'] },
      { name: 'nodes', namespaced: false, kind: 'Node', verbs: VERBS },
    ),
    '/apis': {
      body: {
        kind: 'APIGroupList',
        groups: [
          { name: 'apps', versions: [{ version: 'v1beta1' }, { version: 'v1' }], preferredVersion: { version: 'v1' } },
          { name: 'metrics.k8s.io', versions: [{ version: 'v1beta1' }] },
        ],
      },
    },
    '/apis/apps/v1': legacyList('apps/v1', { name: 'sets', namespaced: true, kind: 'Set', verbs: VERBS }),
    '/apis/apps/v1beta1': legacyList('apps/v1beta1', { name: 'sets', namespaced: true, kind: 'Set', verbs: VERBS }),
    '/apis/metrics.k8s.io/v1beta1': { status: 503, body: { kind: 'Status', code: 503 } },
  });

test('what two servers describe in the same words is held once; what differs is not', async () => {
  const [one, other, older] = [aggregated(), aggregated(), legacy()];
  const [ofOne, ofOther, ofOlder] = await Promise.all(
    [one, other, older].map(({ discovery }) => discovery.resources()),
  );
  assert.ok(ofOne?.length && ofOne.every((resource, index) => resource === ofOther?.[index]));
  const pods = ofOlder?.find(({ resource }) => resource === 'pods');
  assert.ok(pods && !ofOne.includes(pods));
  assert.throws(() => Object.assign(ofOne[0] ?? {}, { kind: 'Other' }), TypeError);
});

for (const [name, start] of [
  ['aggregated', aggregated],
  ['legacy', legacy],
] as const) {
  describe(`${name} discovery`, () => {
    test('tells of every resource with its subresources', async () => {
      const resources = await start().discovery.resources();
      const pods = resources.find(({ resource }) => resource === 'pods');
      const { subresources, ...rest } = pods ?? {};
      assert.deepEqual(rest, {
        group: '',
        version: 'v1',
        resource: 'pods',
        kind: 'Pod',
        namespaced: true,
        singular: 'pod',
        verbs: VERBS,
        shortNames: ['po'],
        categories: ['all'],
        preferred: true,
      });
      const eviction = subresources?.find((subresource) => subresource.name === 'eviction');
      assert.deepEqual(eviction?.responseKind, { group: 'policy', version: 'v1', kind: 'Eviction' });
      assert.ok(subresources?.some((subresource) => subresource.name === 'log'));
      assert.equal(resources.find(({ resource }) => resource === 'nodes')?.namespaced, false);
      const sets = resources.filter(({ resource }) => resource === 'sets');
      assert.deepEqual(
        sets.map(({ version, preferred }) => [version, preferred]),
        [
          ['v1', true],
          ['v1beta1', false],
        ],
      );
    });

    test('maps a kind, says which it does not know, and which server is silent', async () => {
      const { discovery } = start();
      assert.equal((await discovery.typeFor({ apiVersion: 'apps/v1beta1', kind: 'Set' })).version, 'v1beta1');
      await assert.rejects(discovery.typeFor({ apiVersion: 'apps/v2', kind: 'Set' }), {
        code: 404,
        message: 'no matches for kind "Set" in version "apps/v2"',
      });
      await assert.rejects(discovery.typeFor({ apiVersion: 'metrics.k8s.io/v1beta1', kind: 'PodMetrics' }), {
        code: 503,
        message: /the server of metrics\.k8s\.io\/v1beta1 does not answer/,
      });
    });
  });
}

describe('discovery', () => {
  const words: [word: string, found: string][] = [
    ['pods', 'pods v1'],
    ['pod', 'pods v1'],
    ['po', 'pods v1'],
    ['Pod', 'pods v1'],
    ['pods.v1', 'pods v1'],
    ['sets', 'sets apps/v1'],
    ['Set', 'sets apps/v1'],
    ['sets.apps', 'sets apps/v1'],
    ['sets.v1beta1.apps', 'sets apps/v1beta1'],
    ['olds', 'olds apps/v1beta1'],
    ['events', 'events v1'],
    ['events.events.k8s.io', 'events events.k8s.io/v1'],
  ];
  test('reads words as kubectl does', async () => {
    const { discovery } = aggregated();
    for (const [word, expected] of words) {
      const { resource, group, version } = await discovery.find(word);
      assert.equal(`${resource} ${group ? `${group}/` : ''}${version}`, expected, word);
    }
    for (const word of ['podz', 'pods.apps', 'sets.v2.apps']) {
      const message = `the server doesn't have a resource type "${word}" (not answering: metrics.k8s.io/v1beta1)`;
      await assert.rejects(discovery.find(word), { code: 404, message });
    }
  });

  test('asks once, and again, by ETag, when something is missing or on demand', async () => {
    const { discovery, asked, pages } = aggregated();
    await Promise.all([discovery.resources(), discovery.find('pods')]);
    await discovery.find('sets');
    assert.deepEqual(asked(), ['/api', '/apis']);
    pages['/api'] = { status: 304, body: '' };
    const found = item('news', 'New');
    pages['/apis'] = {
      body: {
        kind: 'APIGroupDiscoveryList',
        items: [{ metadata: { name: 'x' }, versions: [{ version: 'v1', resources: [found] }] }],
      },
    };
    assert.equal((await discovery.find('news')).group, 'x');
    assert.deepEqual(asked(), ['/api etag', '/apis etag']);
    assert.equal((await discovery.find('pods')).kind, 'Pod');
    assert.deepEqual(asked(), []);
    discovery.refresh();
    await discovery.resources();
    assert.deepEqual(asked(), ['/api etag', '/apis']);
  });

  test('a server that needs a request for each version is not asked again for every miss', async () => {
    const { discovery, asked, clock } = legacy();
    await assert.rejects(discovery.find('news'));
    assert.equal(asked().length, 6);
    await assert.rejects(discovery.find('news'));
    assert.equal(asked().length, 0);
    clock.advance(5_000);
    await assert.rejects(discovery.find('news'));
    assert.equal(asked().length, 6);
  });

  test('a failure is not kept', async () => {
    const { discovery, pages } = aggregated();
    const before = pages['/apis'] as Page;
    pages['/apis'] = { status: 403, body: { kind: 'Status', code: 403, message: 'no' } };
    await assert.rejects(discovery.resources(), { code: 403 });
    pages['/apis'] = before;
    assert.ok((await discovery.resources()).length > 0);
  });
});
