import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { ManualClock } from '@asterism/client/testing';
import type { KubeObject, ResourceType } from '@asterism/machinery';
import { Counter } from 'prom-client';
import { createController } from '../controller/controller.ts';
import { silentLogger } from '../log/logger.ts';
import { createManager, type Manager, type ManagerOptions } from '../lifecycle/manager.ts';
import { type Reconcile, TerminalError } from '../controller/reconcile.ts';
import { answer, FakeApi, failure, gone } from '../testing/fake-api.ts';
import { HandProvider } from '../testing/hand-provider.ts';
import { sampled, samplesOf } from '../testing/metric-samples.ts';
import { createMetrics, type Metrics } from './create-metrics.ts';

const PODS: ResourceType = { group: '', version: 'v1', resource: 'pods', kind: 'Pod', namespaced: true };
const ALL = '/api/v1/pods';
const pod = (name: string): KubeObject => ({ metadata: { name, namespace: 'n' } });

let api: FakeApi;
let abort: AbortController;
let provider: HandProvider;
let metrics: Metrics;
let manager: Manager;
let stopped: Promise<void> | undefined;

beforeEach(async () => {
  api = await FakeApi.start();
  abort = new AbortController();
  provider = new HandProvider();
});

afterEach(async () => {
  abort.abort();
  await stopped;
  stopped = undefined;
  await api[Symbol.asyncDispose]();
});

function create(clusterLimit?: number, options: Partial<ManagerOptions> = {}): void {
  metrics = createMetrics({ process: false, clusterLimit });
  const parts = { client: api.client(), providers: [provider], logger: silentLogger, metrics, random: () => 0 };
  manager = createManager({ ...parts, ...options });
}

function run(): Promise<void> {
  stopped = manager.start(abort.signal);
  return manager.ready();
}

/** With `controller="web"`, and `name` where it is of the queue. */
const of = (name: string, more = '', cluster = ''): string => {
  const further = more === '' ? '' : `${more},`;
  return `${name}{${name.startsWith('workqueue_') ? 'name="web",' : ''}${further}controller="web",cluster="${cluster}"}`;
};

describe('controllers', () => {
  test('reconciles by how they ended, with upstream names', async () => {
    const attempts = new Map<string, number>();
    const reconcile: Reconcile = async ({ name }) => {
      const nth = (attempts.get(name) ?? 0) + 1;
      attempts.set(name, nth);
      if (name === 'terminal') throw new TerminalError('never');
      if (name === 'error' && nth === 1) throw new Error('not yet');
      if (name === 'panic' && nth === 1) return (undefined as unknown as { result: undefined }).result;
      return name === 'later' && nth === 1 ? { requeueAfter: 1 } : undefined;
    };
    for (const name of ['well', 'terminal', 'error', 'panic', 'later']) api.put(ALL, pod(name));
    create();
    manager.add(createController({ name: 'web', reconcile, concurrency: 3 }).for(PODS));
    await run();
    await sampled(metrics, of('controller_runtime_reconcile_total', 'result="success"'), 4);
    const samples = await samplesOf(metrics);
    const read = (name: string, more?: string): number | undefined => samples.get(of(name, more));
    assert.equal(read('controller_runtime_reconcile_total', 'result="error"'), 3);
    assert.equal(read('controller_runtime_reconcile_total', 'result="requeue_after"'), 1);
    assert.equal(read('controller_runtime_reconcile_errors_total'), 3);
    assert.equal(read('controller_runtime_terminal_reconcile_errors_total'), 1);
    assert.equal(read('controller_runtime_reconcile_panics_total'), 1);
    assert.equal(read('controller_runtime_reconcile_timeouts_total'), 0);
    assert.equal(read('controller_runtime_active_workers'), 0);
    assert.equal(samples.get('controller_runtime_max_concurrent_reconciles{controller="web"}'), 3);
    assert.equal(read('controller_runtime_reconcile_time_seconds_count'), 8);
    assert.equal(read('workqueue_adds_total'), 8);
    assert.equal(read('workqueue_retries_total'), 3);
    assert.equal(read('workqueue_queue_duration_seconds_count'), 8);
    assert.equal(read('workqueue_work_duration_seconds_count'), 8);
    assert.equal(samples.get('workqueue_depth{name="web",controller="web",cluster="",priority="0"}'), 0);
  });

  test('a reconcile that runs, and one that is told to stop', async () => {
    const clock = new ManualClock();
    let now = 0;
    const started = Promise.withResolvers<void>();
    const reconcile: Reconcile = async (_, { signal }) => {
      started.resolve();
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
    };
    api.put(ALL, pod('first'));
    api.put(ALL, pod('second'));
    create(undefined, { clock, monotonic: () => now, graceMs: 0 });
    manager.add(createController({ name: 'web', reconcile, timeoutMs: 60_000 }).for(PODS));
    await run();
    await started.promise;
    now = 7_000;
    const samples = await samplesOf(metrics);
    assert.equal(samples.get(of('controller_runtime_active_workers')), 1);
    assert.equal(samples.get(of('workqueue_unfinished_work_seconds')), 7);
    assert.equal(samples.get(of('workqueue_longest_running_processor_seconds')), 7);
    assert.equal(samples.get('workqueue_depth{name="web",controller="web",cluster="",priority="-100"}'), 1);
    clock.advance(60_000);
    await sampled(metrics, of('controller_runtime_reconcile_timeouts_total'), 1);
    await sampled(metrics, of('workqueue_work_duration_seconds_sum'), 7);
  });
});

describe('clusters', () => {
  test('the bound of the label holds, and a cluster that goes takes its series with it', async () => {
    api.put(ALL, pod('a'));
    create(1);
    manager.add(createController({ name: 'web', reconcile: async () => {} }).for(PODS, { clusters: 'members' }));
    await run();
    const first = provider.engage('m1', api.client());
    provider.engage('m2', api.client());
    provider.engage('m3', api.client());
    await sampled(metrics, of('controller_runtime_reconcile_total', 'result="success"', 'm1'), 1);
    await sampled(metrics, of('controller_runtime_reconcile_total', 'result="success"', '_other'), 2);
    const engaged = await samplesOf(metrics);
    assert.equal(engaged.get('asterism_cluster_health{cluster="_other",health="Connected"}'), 2);
    assert.equal(engaged.get('asterism_informer_objects{cluster="_other",resource="pods"}'), 2);
    assert.equal(engaged.get('asterism_informer_objects{cluster="m1",resource="pods"}'), 1);
    const relists = 'asterism_informer_relists_total{resource="pods",reason="initial",cluster=';
    assert.deepEqual([engaged.get(`${relists}"m1"}`), engaged.get(`${relists}"_other"}`)], [1, 2]);
    await first.disengage();
    const left = [...(await samplesOf(metrics)).keys()];
    assert.deepEqual(
      left.filter((name) => name.includes('m1')),
      [],
    );
    provider.engage('m4', api.client());
    await sampled(metrics, of('controller_runtime_reconcile_total', 'result="success"', 'm4'), 1);
  });

  test('informers: what they hold, how long they have watched, what they hang on', async () => {
    const clock = new ManualClock();
    metrics = createMetrics({ process: false, clock });
    manager = createManager({ client: api.client(), logger: silentLogger, clock, metrics, random: () => 0 });
    manager.local.cache.informer(PODS);
    api.put(ALL, pod('a'));
    await run();
    const name = (what: string): string => `asterism_informer_${what}{cluster="",resource="pods"}`;
    await sampled(metrics, name('synced'), 1);
    await api.called(({ watch }) => watch);
    await sampled(metrics, name('watch_age_seconds'), 0);
    clock.advance(10_000);
    const before = await samplesOf(metrics);
    assert.deepEqual([before.get(name('watch_age_seconds')), before.get(name('last_event_age_seconds'))], [10, 10]);
    api.put(ALL, pod('b'));
    await sampled(metrics, name('objects'), 2);
    const after = await samplesOf(metrics);
    assert.deepEqual([after.get(name('watch_age_seconds')), after.get(name('last_event_age_seconds'))], [10, 0]);
    const mend = api.fault(({ response }) => (answer(response, 410, failure(410, 'Expired')), true));
    api.endWatches('reset');
    await sampled(metrics, name('failures'), 1);
    const failing = await samplesOf(metrics);
    assert.equal(failing.get(name('watch_age_seconds')), undefined, 'it does not watch');
    mend();
    abort.abort();
  });

  test('complete lists are counted by what made them necessary', async () => {
    api.put(ALL, pod('a'));
    create();
    manager.local.cache.informer(PODS);
    await run();
    const relists = (reason: string): string =>
      `asterism_informer_relists_total{resource="pods",reason="${reason}",cluster=""}`;
    await sampled(metrics, relists('initial'), 1);
    await api.called(({ watch }) => watch);
    api.faultOnce(({ query, response }) => query.get('watch') === 'true' && (gone(response), true));
    api.endWatches();
    await sampled(metrics, relists('410'), 1);
  });

  test('requests by status, method and host, of each cluster', async () => {
    create();
    await run();
    const { cluster } = provider.engage('m1', api.client());
    api.faultOnce(
      ({ method, response }) => method === 'POST' && (answer(response, 403, failure(403, 'Forbidden')), true),
    );
    api.faultOnce(({ method, response }) => method === 'DELETE' && (response.destroy(), true));
    const pods = cluster.client.resource(PODS);
    await assert.rejects(pods.create(pod('a')));
    await pods.create(pod('a'));
    await assert.rejects(pods.delete({ name: 'a', namespace: 'n' }));
    const { host } = new URL(api.url);
    const samples = await samplesOf(metrics);
    const count = (code: string, method: string): number | undefined =>
      samples.get(`rest_client_requests_total{code="${code}",method="${method}",host="${host}",cluster="m1"}`);
    assert.deepEqual([count('403', 'POST'), count('200', 'POST'), count('<error>', 'DELETE')], [1, 1, 1]);
    const timed = `rest_client_request_duration_seconds_count{verb="POST",host="${host}",cluster="m1"}`;
    assert.equal(samples.get(timed), 2);
  });

  test('the requests of new credentials are counted as well', async () => {
    create();
    await run();
    const engagement = provider.engage('m1', api.client());
    engagement.replaceClient(api.client('other'));
    await engagement.cluster.client.resource(PODS).create(pod('a'));
    const names = [...(await samplesOf(metrics)).keys()];
    assert.equal(names.filter((name) => /^rest_client_requests_total.*POST.*m1/.test(name)).length, 1);
  });
});

test('whether this process leads', async () => {
  metrics = createMetrics({ process: false });
  let leads = false;
  metrics.leadership('my-operator', () => leads);
  const name = 'leader_election_master_status{name="my-operator"}';
  assert.equal((await samplesOf(metrics)).get(name), 0);
  leads = true;
  assert.equal((await samplesOf(metrics)).get(name), 1);
});

describe('the registry', () => {
  test('takes metrics of one’s own, and tells of the process', async () => {
    metrics = createMetrics();
    new Counter({ name: 'jobs_total', help: 'Jobs.', registers: [metrics.registry] }).inc(3);
    const { contentType, text } = await metrics.read();
    assert.match(contentType, /^text\/plain; version=0\.0\.4/);
    assert.match(text, /^jobs_total 3$/m);
    for (const name of ['process_cpu_seconds_total', 'nodejs_eventloop_lag_p99_seconds'])
      assert.match(text, new RegExp(name));
  });
});
