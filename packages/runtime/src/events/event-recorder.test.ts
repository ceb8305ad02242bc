import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, test } from 'node:test';
import { startTestServer, type TestServer } from '@asterism/apiserver/testing';
import { type Client, ClientError, createClient } from '@asterism/client';
import { ManualClock } from '@asterism/client/testing';
import {
  type ConfigMap,
  CONFIG_MAPS,
  EVENTS_EVENTS,
  type EventEvents,
  type KubeObject,
  NAMESPACES,
} from '@asterism/machinery';
import { type Cluster, EngagedCluster } from '../cluster/cluster.ts';
import { type Logger, silentLogger } from '../log/logger.ts';
import { createManager } from '../lifecycle/manager.ts';
import { createEventRecorder, type EventRecorder, type RecordedEvent } from './event-recorder.ts';

const MADE: RecordedEvent = { reason: 'Made', action: 'Make', note: 'made a thing' };

let server: TestServer;
let nth = 0;
let map: ConfigMap;
let clusters: Map<string, EngagedCluster>;
let clock: ManualClock;
let said: string[];
let events: EventRecorder;
/** Answered before the server is asked; undefined: ask it. */
let fault: (request: { method: string; path: string }) => Error | undefined;
let writes: string[];
let written: () => void;

before(async () => {
  server = await startTestServer();
});
after(() => server.stop());

beforeEach(async () => {
  map = await server.client.resource(CONFIG_MAPS).create({ metadata: { namespace: 'default', name: `map-${++nth}` } });
  clock = new ManualClock();
  [said, writes, fault, written] = [[], [], () => undefined, () => {}];
  clusters = new Map();
  join('', server.client);
  events = createEventRecorder({
    manager: { cluster: (name: string): Cluster | undefined => clusters.get(name) },
    reportingController: 'example.dev/test',
    reportingInstance: 'test-0',
    logger: listening(),
    clock,
  });
});
afterEach(() => clusters.forEach((cluster) => cluster.abort(new Error('the test is over'))));

function join(name: string, { transport }: Client): EngagedCluster {
  const request = async (call: Parameters<typeof transport.request>[0]) => {
    const faulty = fault(call);
    if (call.method !== 'GET') writes.push(call.method);
    if (faulty) throw faulty;
    const answer = await transport.request(call);
    if (call.method !== 'GET') queueMicrotask(() => setImmediate(written));
    return answer;
  };
  const client = createClient({ transport: { ...transport, request } as typeof transport });
  const cluster = new EngagedCluster(name, client, { clock, random: () => 0, logger: silentLogger });
  clusters.set(name, cluster);
  return cluster;
}

function listening(): Logger {
  const logger: Logger = {
    ...silentLogger,
    warn: (_, message) => said.push(message),
    child: () => logger,
  };
  return logger;
}

/** The events of the map, once there have been so many writes. */
async function recorded(count: number): Promise<EventEvents[]> {
  while (writes.length < count) await new Promise<void>((resolve) => (written = resolve));
  await stop();
  const { items } = await server.client.resource(EVENTS_EVENTS).list({ namespace: 'default' });
  return items.filter(({ regarding }) => regarding?.uid === map.metadata?.uid);
}

/** As a manager stops it: what is not told yet is told. */
async function stop(): Promise<void> {
  await events.run(AbortSignal.abort());
}

describe('an event recorder', () => {
  test('writes an event of events.k8s.io about the object, and another object', async () => {
    const related = { apiVersion: 'v1', kind: 'Pod', metadata: { namespace: 'default', name: 'p', uid: 'u' } };
    events.warning('', map, { ...MADE, related });
    const [event] = await recorded(1);
    const { name, uid, resourceVersion } = map.metadata ?? {};
    assert.deepEqual(event?.regarding, {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      namespace: 'default',
      name,
      uid,
      resourceVersion,
    });
    assert.deepEqual(
      [event.type, event.reason, event.action, event.note, event.reportingController, event.reportingInstance],
      ['Warning', 'Made', 'Make', 'made a thing', 'example.dev/test', 'test-0'],
    );
    assert.deepEqual([event.related?.name, event.metadata?.name?.startsWith(`${name}.`)], ['p', true]);
    assert.equal(Date.parse(event.eventTime), clock.wall().getTime());
    assert.equal(event.series ?? undefined, undefined);
  });

  test('a thousand of one kind are one event and three writes at most, and none is lost', async () => {
    for (let i = 0; i < 1_000; i++) events.normal('', map, MADE);
    const [event, ...others] = await recorded(2);
    assert.deepEqual([event?.series?.count, others, writes.length <= 3], [1_000, [], true]);
  });

  test('a series that goes on is refreshed', async () => {
    events.normal('', map, MADE);
    await recorded(1);
    events.normal('', map, MADE);
    await recorded(2);
    events.normal('', map, MADE);
    await new Promise(setImmediate);
    assert.deepEqual(writes, ['POST', 'PATCH']);
    for (let minute = 0; minute < 6; minute++) clock.advance(60_000);
    const [event] = await recorded(3);
    assert.deepEqual([writes, event?.series?.count], [['POST', 'PATCH', 'PATCH'], 3]);
  });

  test('a series that the server has forgotten is written anew', async () => {
    events.normal('', map, MADE);
    const [first] = await recorded(1);
    await server.client.resource(EVENTS_EVENTS).delete({ namespace: 'default', name: first?.metadata?.name ?? '' });
    events.normal('', map, MADE);
    const [event] = await recorded(3);
    assert.deepEqual([writes, event?.series?.count], [['POST', 'PATCH', 'POST'], 2]);
  });

  test('a cluster that gives no answer is tried again, and holds up no other', async () => {
    join('east', server.client);
    let asked = 0;
    const refused = Promise.withResolvers<void>();
    const gone = new ClientError('refused', { code: 'ECONNREFUSED' });
    join('west', server.client);
    fault = () => {
      if (++asked > 1) return undefined;
      refused.resolve();
      return gone;
    };
    events.normal('west', map, MADE);
    await refused.promise;
    events.normal('east', map, { ...MADE, reason: 'Other' });
    while (writes.length < 2) await new Promise<void>((resolve) => (written = resolve));
    await new Promise(setImmediate);
    clock.advance(1_500);
    const all = await recorded(3);
    assert.deepEqual(new Set(all.map(({ reason }) => reason)), new Set(['Made', 'Other']));
    assert.deepEqual(said, []);
  });

  test('what the server refuses is said once, and forgotten', async () => {
    const viewer = server.clientAs({ username: 'viewer', groups: [] });
    join('east', viewer);
    events.normal('east', map, MADE);
    await stop();
    events.normal('east', map, { ...MADE, reason: 'Other' });
    await stop();
    assert.equal(writes.length, 2);
    assert.equal(said.length, 1);
    assert.match(said[0] ?? '', /an event was not recorded: events\.events\.k8s\.io is forbidden: User "viewer"/);
  });

  test('a namespace that goes takes no events, which is no news', async () => {
    const namespace = `going-${nth}`;
    await server.client
      .resource(NAMESPACES)
      .create({ metadata: { name: namespace, finalizers: ['example.dev/keep'] } });
    const inside = await server.client.resource(CONFIG_MAPS).create({ metadata: { namespace, name: 'a' } });
    await server.client.resource(NAMESPACES).delete({ name: namespace });
    events.normal('', inside, MADE);
    await stop();
    assert.deepEqual([writes, said], [['POST'], []]);
  });

  test('a cluster that is gone has no events, nor has one that never was', async () => {
    const east = join('east', server.client);
    fault = () => new ClientError('refused', { code: 'ECONNREFUSED' });
    events.normal('east', map, MADE);
    events.normal('nowhere', map, MADE);
    east.abort(new Error('disengaged'));
    await stop();
    events.normal('east', map, MADE);
    await stop();
    assert.equal(writes.length, 1);
  });

  test('long texts are cut, names that no event can have are left out', async () => {
    const role = { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole', metadata: { name: 'system:node' } };
    const note = 'é'.repeat(1_000);
    events.normal('', role, { ...MADE, note });
    events.normal('', { ...map, metadata: { ...map.metadata, name: 'x'.repeat(253) } }, MADE);
    await stop();
    const { items } = await server.client.resource(EVENTS_EVENTS).list({ namespace: 'default' });
    const ofRole = items.find(({ regarding }) => regarding?.name === 'system:node');
    assert.deepEqual([ofRole?.note?.length, ofRole?.metadata?.name?.startsWith('event.')], [512, true]);
    assert.equal(items.find(({ regarding }) => regarding?.name?.length === 253)?.metadata?.name?.length, 253);
    assert.deepEqual(said, []);
  });

  const wrong: { name: string; object?: KubeObject; event?: Partial<RecordedEvent>; message: RegExp }[] = [
    { name: 'an object without a name', object: { kind: 'Pod', apiVersion: 'v1' }, message: /and not Pod ""/ },
    { name: 'an object without a kind', object: { metadata: { name: 'x' } }, message: /and not \? "x"/ },
    { name: 'no reason', event: { reason: '' }, message: /an event's reason has 1 to 128 bytes, and this not: ""/ },
    { name: 'a long action', event: { action: 'x'.repeat(129) }, message: /an event's action has 1 to 128 bytes/ },
  ];
  for (const { name, object, event, message } of wrong) {
    test(`refuses ${name}`, () => {
      assert.throws(() => events.normal('', object ?? map, { ...MADE, ...event }), message);
    });
  }

  test('refuses a reporter without a good name', () => {
    const manager = { cluster: () => undefined };
    const make = () => createEventRecorder({ manager, reportingController: 'a b', logger: silentLogger });
    assert.throws(make, /the reporting controller "a b" is no good/);
  });

  test('in a manager, what is not told yet is told when it stops', async () => {
    const manager = createManager({ client: server.client, logger: silentLogger });
    const recorder = createEventRecorder({ manager, reportingController: 'example.dev/test', logger: silentLogger });
    manager.add(recorder);
    const abort = new AbortController();
    const stopped = manager.start(abort.signal);
    await manager.ready();
    for (let i = 0; i < 5; i++) recorder.normal('', map, MADE);
    abort.abort();
    await stopped;
    const { items } = await server.client.resource(EVENTS_EVENTS).list({ namespace: 'default' });
    assert.equal(items.find(({ regarding }) => regarding?.uid === map.metadata?.uid)?.series?.count, 5);
  });
});
