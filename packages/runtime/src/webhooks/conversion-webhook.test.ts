import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { KubeObject, ResourceType } from '@asterism/machinery';
import { silentLogger } from '../log/logger.ts';
import { createConversionWebhook, createConvertedKind } from './conversion-webhook.ts';

interface Tab extends KubeObject {
  spec: { schedule: string; zone?: string };
}
interface OldTab extends KubeObject {
  spec: { cron: string };
}
interface ListTab extends KubeObject {
  spec: { times: string[] };
}

const type = <T extends KubeObject>(version: string): ResourceType<T> => ({
  group: 'example.dev',
  version,
  resource: 'tabs',
  kind: 'Tab',
  namespaced: true,
});
const ZONE = 'example.dev/zone';

const tabs = createConvertedKind(type<Tab>('v2'))
  .spoke(type<OldTab>('v1'), {
    toHub({ spec, metadata }) {
      const { [ZONE]: zone, ...annotations } = metadata?.annotations ?? {};
      const more = zone === undefined ? {} : { zone };
      return { metadata: { ...metadata, annotations }, spec: { schedule: spec.cron, ...more } };
    },
    fromHub({ spec, metadata }) {
      const annotations = { ...metadata?.annotations };
      if (spec.zone !== undefined) annotations[ZONE] = spec.zone;
      return { metadata: { name: 'another', annotations }, spec: { cron: spec.schedule } };
    },
  })
  .spoke(type<ListTab>('v3'), {
    toHub: async ({ spec: { times } }) => ({ spec: { schedule: times.join(' ') } }),
    fromHub({ spec: { schedule } }) {
      if (schedule === '') throw new Error('an empty schedule has no times');
      return { spec: { times: schedule.split(' ') } };
    },
  });
const webhook = createConversionWebhook({ kinds: [tabs] });

interface Response {
  uid: string;
  convertedObjects: KubeObject[];
  result: { status: string; message?: string };
}

const metadata = { name: 'a', namespace: 'n', uid: 'x', labels: { l: '1' } };
const tab = (version: string, spec: object, more: object = {}): KubeObject => ({
  apiVersion: `example.dev/${version}`,
  kind: 'Tab',
  metadata: { ...metadata, ...more },
  spec,
});

async function convert(version: string, ...objects: unknown[]): Promise<Response> {
  const request = { uid: 'u1', desiredAPIVersion: `example.dev/${version}`, objects };
  const review = { apiVersion: 'apiextensions.k8s.io/v1', kind: 'ConversionReview', request };
  const answer = await webhook.answer(review, { signal: AbortSignal.any([]), logger: silentLogger });
  const { response, ...head } = answer as { response: Response };
  assert.deepEqual(head, { apiVersion: 'apiextensions.k8s.io/v1', kind: 'ConversionReview' });
  return response;
}

describe('a conversion webhook', () => {
  test('converts to the hub, from it, through it, and leaves what is of the version', async () => {
    const { uid, convertedObjects, result } = await convert(
      'v3',
      tab('v1', { cron: '1 2' }),
      tab('v2', { schedule: '3' }),
      tab('v3', { times: ['4'] }),
    );
    assert.deepEqual([uid, result], ['u1', { status: 'Success' }]);
    assert.deepEqual(
      convertedObjects.map(({ spec }) => spec),
      [{ times: ['1', '2'] }, { times: ['3'] }, { times: ['4'] }],
    );
    assert.deepEqual(
      new Set(convertedObjects.map(({ apiVersion, kind }) => `${apiVersion} ${kind}`)),
      new Set(['example.dev/v3 Tab']),
    );
    const [hub] = (await convert('v2', tab('v3', { times: ['1', '2'] }))).convertedObjects;
    assert.deepEqual(hub, tab('v2', { schedule: '1 2' }));
  });

  test('of metadata only labels and annotations change, so that there and back again is the same', async () => {
    const there = (await convert('v1', tab('v2', { schedule: '1', zone: 'UTC' }))).convertedObjects;
    assert.deepEqual(
      JSON.parse(JSON.stringify(there)),
      [tab('v1', { cron: '1' }, { labels: undefined, annotations: { [ZONE]: 'UTC' } })].map(
        (each) => JSON.parse(JSON.stringify(each)) as unknown,
      ),
    );
    const [back] = (await convert('v2', ...there)).convertedObjects;
    assert.deepEqual(back?.['spec'], { schedule: '1', zone: 'UTC' });
    assert.deepEqual(back?.metadata?.annotations, {});
  });

  test('an object without metadata gets none', async () => {
    const [made] = (await convert('v2', { apiVersion: 'example.dev/v3', kind: 'Tab', spec: { times: [] } }))
      .convertedObjects;
    assert.deepEqual(made, { apiVersion: 'example.dev/v2', kind: 'Tab', spec: { schedule: '' } });
  });

  const FAILURES: [what: string, version: string, object: KubeObject, message: string][] = [
    [
      'a conversion that throws',
      'v3',
      tab('v2', { schedule: '' }),
      'cannot convert Tab n/a from example.dev/v2 to example.dev/v3: an empty schedule has no times',
    ],
    [
      'a version that nobody knows',
      'v9',
      tab('v2', {}),
      'cannot convert Tab n/a from example.dev/v2 to example.dev/v9: this webhook does not know its version v9',
    ],
    [
      'a kind that nobody knows',
      'v2',
      { ...tab('v1', {}), kind: 'Other' },
      'cannot convert Other n/a from example.dev/v1 to example.dev/v2: this webhook does not convert that kind',
    ],
  ];
  for (const [what, version, object, message] of FAILURES) {
    test(`${what} fails the review, and says why`, async () => {
      const { convertedObjects, result } = await convert(version, tab('v2', { schedule: '1' }), object);
      assert.deepEqual([convertedObjects, result], [[], { status: 'Failure', message }]);
    });
  }

  test('a long list is converted in turns', async () => {
    const objects = Array.from({ length: 30_000 }, () => tab('v1', { cron: '1 2 3' }));
    let turns = 0;
    let isDone = false;
    const count = (): void => {
      turns++;
      if (!isDone) setImmediate(count);
    };
    setImmediate(count);
    const { convertedObjects } = await convert('v3', ...objects);
    isDone = true;
    assert.equal(convertedObjects.length, objects.length);
    assert.ok(turns > 1, `${turns} turns`);
  });

  const NONSENSE: [what: string, request: object, message: RegExp][] = [
    ['no version', { uid: 'u', objects: [] }, /no request.desiredAPIVersion/],
    ['no objects', { uid: 'u', desiredAPIVersion: 'v1' }, /no request.objects/],
    ['objects that are none', { uid: 'u', desiredAPIVersion: 'v1', objects: [1] }, /no request.objects/],
  ];
  for (const [what, request, message] of NONSENSE) {
    test(`nonsense: ${what}`, async () => {
      const review = { apiVersion: 'apiextensions.k8s.io/v1', kind: 'ConversionReview', request };
      const context = { signal: AbortSignal.any([]), logger: silentLogger };
      await assert.rejects(webhook.answer(review, context), { name: 'StatusError', message });
    });
  }

  test('a kind or a version that is there twice, or is another one, throws', () => {
    const ways = { toHub: (object: Tab) => object, fromHub: (hub: Tab) => hub };
    const other = { ...type<Tab>('v1'), kind: 'Other' };
    const hub = type<Tab>('v2');
    const kind = createConvertedKind(hub);
    assert.throws(() => kind.spoke(other, ways), /Other of example.dev\/v1 is no version of Tab/);
    assert.throws(() => kind.spoke(hub, ways), /is there twice/);
    assert.throws(() => createConversionWebhook({ kinds: [tabs, tabs] }), /Tab.example.dev is there twice/);
  });
});
