import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { Readable } from 'node:stream';
import { readBody } from '@asterism/client';
import { CUSTOM_RESOURCE_DEFINITIONS, findCondition, type KubeList } from '@asterism/machinery';
import { CLUSTERS } from '../../api/index.ts';
import { definitionOf, WIDGETS } from '../../deliver/testing/custom-kind.ts';
import { type Member, startMember } from '../testing/member.ts';
import { type SearchFleet, startSearchFleet } from '../testing/search-fleet.ts';
import type { IndexRule } from './indexed-resources.ts';

const MAPS: IndexRule[] = [{ group: '', resources: ['configmaps'] }];
const ALL_MAPS = '/api/v1/configmaps';

let fleet: SearchFleet;
let alpha: Member;
let beta: Member;
let parts: AsyncDisposableStack;

beforeEach(async () => {
  parts = new AsyncDisposableStack();
  fleet = parts.use(await startSearchFleet());
  alpha = parts.use(await startMember());
  beta = parts.use(await startMember());
});

afterEach(() => parts.disposeAsync());

const DEFINITION = definitionOf(WIDGETS, {
  additionalPrinterColumns: [{ name: 'Colour', type: 'string', jsonPath: '.spec.colour' }],
});

/** Whether it is not what the runtime asks a cluster, whoever uses it. */
function isOfSearch(path: string): boolean {
  return path !== '/readyz' && path !== '/version';
}

async function putWidget(member: Member, name: string): Promise<void> {
  const metadata = { name, namespace: 'default' };
  const widget = { apiVersion: 'example.com/v1', kind: 'Widget', metadata, spec: { colour: 'red' } };
  await member.server.client.resource(WIDGETS).create(widget);
}

describe('what is followed', () => {
  test('the resources that a Cluster names, of every cluster', async () => {
    await alpha.put('a', 'b');
    await beta.put('b');
    await fleet.join('alpha', alpha, MAPS);
    await fleet.join('beta', beta, MAPS);
    await fleet.store.until(async () => (await fleet.store.names('configmaps')).length === 3);
    assert.deepEqual(await fleet.found(ALL_MAPS), ['alpha/default/a', 'alpha/default/b', 'beta/default/b']);
    await alpha.remove('b');
    await fleet.store.until(async () => (await fleet.store.names('configmaps')).length === 2);
    assert.deepEqual(await fleet.found(ALL_MAPS), ['alpha/default/a', 'beta/default/b']);
    assert.deepEqual(await fleet.store.names('namespaces'), []);
  });

  test('by default, what people look for; neither Secrets nor Events', async () => {
    await fleet.join('alpha', alpha);
    await fleet.store.until(async () => (await fleet.store.names('namespaces')).length === 4);
    await fleet.store.until(async () => (await fleet.store.sources('alpha')).length > 20);
    const resources = (await fleet.store.sources('alpha')).map(({ resource }) => resource);
    assert.ok(resources.includes('pods') && resources.includes('deployments'));
    assert.deepEqual(
      resources.filter((name) => ['secrets', 'events', 'leases'].includes(name)),
      [],
    );
  });

  test('rules that change: what is no longer named goes, what is new comes, the rest is left alone', async () => {
    await alpha.put('a');
    await fleet.join('alpha', alpha, [{ group: '', resources: ['configmaps', 'namespaces'] }]);
    await fleet.store.until(async () => (await fleet.store.names('namespaces')).length === 4);
    await fleet.store.until(async () => (await fleet.store.names('configmaps')).length === 1);
    fleet.store.writes.length = 0;
    await fleet.setIndex('alpha', [{ group: '', resources: ['configmaps', 'serviceaccounts'] }]);
    await fleet.store.until(() => fleet.store.writes.includes('drop namespaces'));
    await fleet.store.until(() => fleet.store.writes.includes('finish serviceaccounts'));
    assert.deepEqual(await fleet.store.names('namespaces'), []);
    assert.deepEqual(await fleet.store.names('configmaps'), ['alpha/default/a']);
    assert.ok(!fleet.store.writes.some((write) => write.includes('configmaps')), fleet.store.writes.join('; '));
  });

  test('nothing: the rows go, and the cluster is asked nothing any more', async () => {
    await alpha.put('a');
    await fleet.join('alpha', alpha, MAPS);
    await fleet.store.until(async () => (await fleet.store.names('configmaps')).length === 1);
    await fleet.setIndex('alpha', []);
    await fleet.store.until(() => fleet.store.writes.includes('drop configmaps'));
    const asked = alpha.asked.length;
    await alpha.server.client.resource(CUSTOM_RESOURCE_DEFINITIONS).create(DEFINITION);
    await beta.put('b');
    await fleet.join('beta', beta, MAPS);
    await fleet.store.until(async () => (await fleet.store.names('configmaps')).join() === 'beta/default/b');
    assert.deepEqual(alpha.asked.slice(asked).filter(isOfSearch), []);
  });

  test('nothing from the first: its definitions are not followed', async () => {
    await fleet.join('alpha', alpha, []);
    await beta.put('b');
    await fleet.join('beta', beta, MAPS);
    await fleet.store.until(async () => (await fleet.store.names('configmaps')).length === 1);
    assert.deepEqual(
      alpha.asked.filter((path) => path.includes('watch=')),
      [],
    );
    await fleet.setIndex('alpha', MAPS);
    await alpha.put('a');
    await fleet.store.until(async () => (await fleet.store.names('configmaps')).length === 2);
  });

  test('a definition that comes brings its objects, with its columns; one that goes takes them along', async () => {
    await fleet.join('alpha', alpha, [{ group: '*', resources: ['*'] }]);
    await fleet.store.until(() => fleet.store.writes.includes('finish customresourcedefinitions'));
    await alpha.server.client.resource(CUSTOM_RESOURCE_DEFINITIONS).create(DEFINITION);
    await fleet.store.until(() => fleet.store.writes.includes('finish widgets'));
    await putWidget(alpha, 'w');
    await fleet.store.until(async () => (await fleet.store.names('widgets')).length === 1);
    const { columnDefinitions, rows } = await fleet.table('/apis/example.com/v1/widgets');
    assert.deepEqual(
      columnDefinitions?.map(({ name }) => name),
      ['Cluster', 'Name', 'Colour'],
    );
    assert.deepEqual(rows[0]?.cells, ['alpha', 'w', 'red']);
    await alpha.server.client.resource(CUSTOM_RESOURCE_DEFINITIONS).delete({ name: 'widgets.example.com' });
    await fleet.store.until(() => fleet.store.writes.includes('drop widgets'));
    assert.deepEqual(await fleet.store.names('widgets'), []);
    assert.equal((await fleet.ask('/apis/example.com/v1/widgets')).status, 404);
  });

  test('an API that does not answer is no reason to forget its objects', async () => {
    await alpha.server.client.resource(CUSTOM_RESOURCE_DEFINITIONS).create(DEFINITION);
    await fleet.join('alpha', alpha, [{ group: '*', resources: ['*'] }]);
    await fleet.store.until(() => fleet.store.writes.includes('finish widgets'));
    await putWidget(alpha, 'w');
    await fleet.store.until(async () => (await fleet.store.names('widgets')).length === 1);
    await fleet.stopFollowing();
    await alpha.server.client.resource(CUSTOM_RESOURCE_DEFINITIONS).delete({ name: 'widgets.example.com' });
    alpha.refuse(({ path }) => path.includes('widgets'), 503);
    await fleet.startFollowing();
    fleet.engage('alpha', alpha);
    const asked = alpha.asked.length;
    while (!alpha.asked.slice(asked).some((path) => path.includes('widgets?limit=1'))) await new Promise(setImmediate);
    await alpha.put('later');
    await fleet.store.until(async () => (await fleet.store.names('configmaps')).length === 1);
    assert.deepEqual(await fleet.store.names('widgets'), ['alpha/default/w']);
  });
});

describe('clusters that come and go', () => {
  test('a dead one delays nobody, keeps its rows, and an answer says that they may be old', async () => {
    await alpha.put('a');
    await beta.put('b');
    await fleet.join('alpha', alpha, MAPS);
    await fleet.store.until(async () => (await fleet.store.names('configmaps')).length === 1);
    await fleet.stopFollowing();
    await fleet.startFollowing();
    alpha.refuse(() => true, 503);
    fleet.engage('alpha', alpha);
    await fleet.join('beta', beta, MAPS);
    await fleet.store.until(async () => (await fleet.store.names('configmaps')).length === 2);
    let answer = await fleet.ask(ALL_MAPS);
    while (answer.warnings.join().includes('beta')) answer = await fleet.ask(ALL_MAPS);
    assert.equal((answer.body as KubeList).items.length, 2);
    assert.deepEqual(answer.warnings, [
      '299 - "search: what is shown of alpha may be old: not followed at the moment"',
    ]);
  });

  test('its Cluster deleted: its rows go, others stay; joined again it is followed again', async () => {
    await alpha.put('a');
    await beta.put('b');
    await fleet.join('alpha', alpha, MAPS);
    await fleet.join('beta', beta, MAPS);
    await fleet.store.until(async () => (await fleet.store.names('configmaps')).length === 2);
    await fleet.leave('alpha');
    await fleet.store.until(() => fleet.store.writes.includes('drop alpha'));
    assert.deepEqual(await fleet.found(ALL_MAPS), ['beta/default/b']);
    assert.equal((await fleet.ask(`/clusters/alpha${ALL_MAPS}`)).status, 404);
    await fleet.join('alpha', alpha, MAPS);
    await fleet.store.until(async () => (await fleet.store.names('configmaps')).length === 2);
  });

  test('gone while nobody looked: its rows go at the next start', async () => {
    await alpha.put('a');
    await fleet.join('alpha', alpha, MAPS);
    await fleet.store.until(async () => (await fleet.store.names('configmaps')).length === 1);
    await fleet.stopFollowing();
    await fleet.leave('alpha');
    await fleet.startFollowing();
    await fleet.store.until(() => fleet.store.writes.includes('drop alpha'));
    assert.deepEqual(await fleet.found(ALL_MAPS), []);
  });

  test('built anew under the same name: the rows of the old one go', async () => {
    const rules: IndexRule[] = [{ group: '', resources: ['configmaps', 'namespaces'] }];
    await alpha.put('old');
    await fleet.join('alpha', alpha, rules);
    await fleet.store.until(async () => (await fleet.store.names('configmaps')).length === 1);
    await fleet.store.until(async () => (await fleet.store.names('namespaces')).length === 4);
    await fleet.stopFollowing();
    await fleet.leave('alpha');
    await beta.put('new');
    const starting = fleet.startFollowing();
    await fleet.join('alpha', beta, rules);
    await starting;
    await fleet.store.until(async () => (await fleet.store.names('configmaps')).join() === 'alpha/default/new');
  });

  test('started again: no list, nothing written, and at once what was there is found', async () => {
    await alpha.put('a');
    await fleet.join('alpha', alpha, MAPS);
    await fleet.store.until(async () => (await fleet.store.names('configmaps')).length === 1);
    await fleet.stopFollowing();
    fleet.store.writes.length = 0;
    alpha.asked.length = 0;
    await fleet.startFollowing();
    assert.deepEqual(await fleet.found(ALL_MAPS), ['alpha/default/a']);
    fleet.engage('alpha', alpha);
    await alpha.put('b');
    await fleet.store.until(async () => (await fleet.store.names('configmaps')).length === 2);
    assert.deepEqual(fleet.store.writes, ['change configmaps +b']);
    assert.ok(!alpha.asked.some((path) => path.startsWith(`${ALL_MAPS}?limit`)), alpha.asked.join('; '));
  });
});

describe('what is too much', () => {
  const nested = (levels: number): object => (levels === 0 ? {} : { a: nested(levels - 1) });

  test('an object that is nested too deeply is left out alone, and told', async () => {
    await alpha.put('a', 'b');
    const inner = alpha.client.transport;
    const deep = JSON.stringify(nested(1_500));
    const client = alpha.client.through(() => ({
      close: () => inner.close(),
      [Symbol.asyncDispose]: () => Promise.resolve(),
      upgrade: (request) => inner.upgrade(request),
      async request(request) {
        const answer = await inner.request(request);
        if (!request.path.startsWith('/api/v1/configmaps?limit=')) return answer;
        const text = (await readBody(answer.body, 'alpha')).toString();
        const deeper = text.replace('"name":"a"', `"name":"a","x":${deep}`);
        return { status: answer.status, headers: answer.headers, body: Readable.from([Buffer.from(deeper)]) };
      },
    }));
    await fleet.join('alpha', { ...alpha, client }, MAPS);
    await fleet.store.until(async () => (await fleet.store.names('configmaps')).length > 0);
    const { warnings } = await fleet.ask(ALL_MAPS);
    assert.deepEqual(await fleet.found(ALL_MAPS), ['alpha/default/b']);
    assert.match(warnings.join('\n'), /alpha has objects that are nested too deeply to be kept: default\/a/);
  });

  test('a cluster beyond its share gets a condition and a warning, another one neither; more room mends it', async () => {
    await alpha.put('a', 'b', 'c');
    await beta.put('b');
    await fleet.join('alpha', alpha, []);
    await fleet.join('beta', beta, MAPS);
    const clusters = fleet.hub.client.resource(CLUSTERS);
    const set = async (spec: object): Promise<void> =>
      void (await clusters.patch({ name: 'alpha' }, { type: 'merge', body: { spec } }));
    const untilStatus = async (wanted: string) => {
      for await (const event of clusters.watch({ fieldSelector: 'metadata.name=alpha' })) {
        if (event.type === 'ERROR' || event.type === 'BOOKMARK') continue;
        const found = findCondition(event.object.status?.conditions, 'SearchWithinShare');
        if (found?.status === wanted) return found;
      }
      return assert.fail('the watch ended');
    };
    await set({ index: MAPS, searchShare: { maxObjects: 2 } });
    const { reason, message } = await untilStatus('False');
    assert.equal(reason, 'ShareExceeded');
    assert.match(message, /^search does not keep all of configmaps: .*share of 2 objects .*spec\.searchShare/);
    assert.match((await fleet.ask(ALL_MAPS)).warnings.join(), /what is shown of alpha is not complete/);
    await fleet.store.until(async () => (await fleet.store.names('configmaps')).includes('beta/default/b'));
    assert.equal(
      findCondition((await clusters.get({ name: 'beta' })).status?.conditions, 'SearchWithinShare'),
      undefined,
    );
    await set({ searchShare: { maxObjects: 3 } });
    await untilStatus('True');
    assert.equal((await fleet.store.usage('alpha')).rows, 3);
  });
});
