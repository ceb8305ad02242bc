import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { on, once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { startTestServer, type TestServer } from '@asterism/apiserver/testing';
import { type Client, ClientError, createClient } from '@asterism/client';
import { until } from '@asterism/client/testing';
import { CONFIG_MAPS, LEASES } from '@asterism/machinery';
import { createController } from '../controller/controller.ts';
import { type LeaderElectionOptions, LeadershipLostError, NotLeadingError } from '../leader/leader-election.ts';
import { silentLogger } from '../log/logger.ts';
import { createManager, type Manager } from './manager.ts';
import { watchResource } from '../watch/watcher.ts';

const TIMES = { leaseDurationMs: 3_000, renewDeadlineMs: 2_000, retryPeriodMs: 100 };
/** What a busy machine may take on top of them, ms. */
const SLACK_MS = 1_500;
const map = (name: string) => ({ metadata: { namespace: 'default', name } });

/** One process's manager, as far as a test looks into it. */
interface Candidate {
  manager: Manager;
  /** Settles with the manager's start. */
  ended: Promise<void>;
  seen: string[];
  /** By `performance.now()`, when it reconciled. */
  actedAt: number[];
  stop(): Promise<void>;
  /** Cuts it off, as death would: it releases nothing. */
  cut(): void;
}

let server: TestServer;
let started: Candidate[];

beforeEach(async () => {
  server = await startTestServer();
  started = [];
});

afterEach(async () => {
  await Promise.all(started.map((candidate) => candidate.stop()));
  await server.stop();
});

function candidate(identity: string, election: Partial<LeaderElectionOptions> = {}): Candidate {
  const line = cuttable(server.client);
  const manager = createManager({
    client: line.client,
    logger: silentLogger,
    leaderElection: { namespace: 'default', name: 'leader', identity, ...TIMES, ...election },
  });
  const abort = new AbortController();
  const seen: string[] = [];
  const actedAt: number[] = [];
  manager.add(
    createController({
      name: 'maps',
      async reconcile({ name }) {
        seen.push(name);
        actedAt.push(performance.now());
        // Comes back for as long as it acts.
        return name === 'beat' ? { requeueAfter: 5 } : undefined;
      },
    }).for(CONFIG_MAPS, { namespace: 'default' }),
  );
  const ended = manager.start(abort.signal);
  ended.catch(() => {});
  const made: Candidate = {
    manager,
    ended,
    seen,
    actedAt,
    cut: line.cut,
    async stop() {
      abort.abort();
      await ended.catch(() => {});
    },
  };
  started.push(made);
  return made;
}

/** A client whose line can be cut for good: no request gets out, and no answer in. */
function cuttable(client: Client): { client: Client; cut: () => void } {
  const cut = new AbortController();
  const { transport } = client;
  const gone = () => new ClientError('the line is cut', { code: 'ECONNRESET' });
  const through = async <T>(signal: AbortSignal | undefined, call: (signal: AbortSignal) => Promise<T>): Promise<T> => {
    if (cut.signal.aborted) throw gone();
    const either = AbortSignal.any([cut.signal, ...(signal ? [signal] : [])]);
    return await call(either).catch((error) => {
      throw cut.signal.aborted ? gone() : error;
    });
  };
  const cutTransport = {
    ...transport,
    request: (request: Parameters<typeof transport.request>[0]) =>
      through(request.signal, (signal) => transport.request({ ...request, signal })),
    upgrade: (request: Parameters<typeof transport.upgrade>[0]) => transport.upgrade(request),
    close: () => Promise.resolve(),
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
  return { client: createClient({ transport: cutTransport }), cut: () => cut.abort() };
}

const holder = async (): Promise<string | undefined> =>
  (await server.client.resource(LEASES).get({ namespace: 'default', name: 'leader' })).spec?.holderIdentity;

describe('two managers on one Lease', () => {
  test('the standby has its caches, and does nothing; when the first stops, it takes over at once', async () => {
    await server.client.resource(CONFIG_MAPS).create(map('a'));
    const first = candidate('first');
    await first.manager.leading;
    const second = candidate('second');
    const ran: string[] = [];
    const runnable = (name: string, more: object) => ({
      name,
      ...more,
      run: () => Promise.resolve(void ran.push(name)),
    });
    second.manager.add(runnable('anybody', { needsLeadership: false }));
    second.manager.add(runnable('leader', {}));
    await second.manager.ready();
    const cached = second.manager.local.cache.get(CONFIG_MAPS, { namespace: 'default', name: 'a' });
    assert.equal(cached?.metadata?.name, 'a');
    assert.deepEqual([second.seen, ran], [[], ['anybody']]);
    const writing = second.manager.local.client.resource(CONFIG_MAPS).create(map('b'));
    await assert.rejects(writing, (error) => error instanceof NotLeadingError);
    await server.client.resource(CONFIG_MAPS).create(map('c'));
    await first.stop();
    await first.ended;
    const began = performance.now();
    await second.manager.leading;
    assert.ok(performance.now() - began < TIMES.leaseDurationMs / 2, 'it waited for the Lease to run out');
    assert.equal(await holder(), 'second');
    await second.manager.ready();
    await second.manager.local.client.resource(CONFIG_MAPS).create(map('b'));
    await until(() => ['a', 'b', 'c'].every((name) => second.seen.includes(name)));
    assert.deepEqual(ran, ['anybody', 'leader']);
  });

  test('the first dies: the second leads within the Lease and a look, and never do both act', async () => {
    await server.client.resource(CONFIG_MAPS).create(map('beat'));
    const first = candidate('first');
    await first.manager.leading;
    const second = candidate('second');
    await second.manager.ready();
    await until(() => first.actedAt.length > 5);
    first.cut();
    const died = performance.now();
    await assert.rejects(first.ended, (error) => error instanceof LeadershipLostError);
    assert.ok(performance.now() - died < TIMES.renewDeadlineMs + SLACK_MS);
    await second.manager.leading;
    // Its last renewal is seen a look later at most, and counts from then on.
    const bound = TIMES.leaseDurationMs + 2 * TIMES.retryPeriodMs + SLACK_MS;
    assert.ok(performance.now() - died < bound, 'it took too long');
    await until(() => second.actedAt.length > 5);
    assert.ok((first.actedAt.at(-1) ?? 0) < (second.actedAt[0] ?? 0), 'both acted');
  });

  test('what was elected may look around before anything acts, and give up', async () => {
    const order: string[] = [];
    const careful = candidate('careful', {
      onElected: async () => {
        order.push(`elected, ${(await holder()) ?? ''} holds`);
        throw new Error('not with me');
      },
    });
    await assert.rejects(careful.ended, /not with me/);
    assert.deepEqual(order, ['elected, careful holds']);
    assert.deepEqual(careful.seen, []);
    await assert.rejects(careful.manager.leading);
    const next = candidate('next');
    await next.manager.leading;
  });
});

test('a process that is frozen until another leads does nothing when it wakes, but end', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'asterism-leader-'));
  const program = fileURLToPath(new URL('../testing/leader-process.ts', import.meta.url));
  const kubeconfig = await server.kubeconfig(join(folder, 'kubeconfig'));
  const options = ['--conditions=asterism-source', '--disable-warning=ExperimentalWarning'];
  const child = spawn(process.execPath, [...options, program, kubeconfig], { stdio: ['ignore', 'pipe', 'inherit'] });
  try {
    await said(child.stdout, 'leading');
    const written = server.client.resource(CONFIG_MAPS);
    for await (const event of watchResource(written, { signal: AbortSignal.timeout(5_000) })) {
      if ((event.type === 'Apply' || event.type === 'InitApply') && event.object.data?.['by']) break;
    }
    child.kill('SIGSTOP');
    const second = candidate('second');
    await second.manager.leading;
    const ref = { namespace: 'default', name: 'written' };
    const before = (await written.get(ref)).data?.['by'] ?? '';
    await written.patch(ref, { type: 'merge', body: { data: { by: 'second' } } });
    const ended = once(child, 'close');
    const last = said(child.stdout, 'lost');
    child.kill('SIGCONT');
    await last;
    await ended;
    // The one request that was on its way when it froze may arrive; none is begun by whoever wakes.
    const onItsWay = before.replace(/\d+$/, (count) => String(Number(count) + 1));
    const by = (await written.get(ref)).data?.['by'] ?? '';
    assert.ok(['second', onItsWay].includes(by), `${by}, and ${before} before`);
    assert.equal(await holder(), 'second');
  } finally {
    child.kill('SIGKILL');
    await rm(folder, { recursive: true });
  }
});

describe('a companion cluster', () => {
  test('has a cache that starts and stops with the manager, and is no member', async () => {
    await using other = await startTestServer();
    await other.client.resource(CONFIG_MAPS).create(map('there'));
    const abort = new AbortController();
    const manager = createManager({ client: server.client, logger: silentLogger });
    const early = manager.addCluster('templates', other.client);
    assert.throws(() => manager.addCluster('templates', other.client), /is there already/);
    const informer = early.cache.informer(CONFIG_MAPS, { namespace: 'default' });
    const ended = manager.start(abort.signal);
    await informer.synced();
    assert.equal(early.cache.get(CONFIG_MAPS, map('there').metadata)?.metadata?.name, 'there');
    const late = manager.addCluster('more', other.client);
    await late.cache.informer(CONFIG_MAPS).synced();
    assert.deepEqual([manager.clusters(), manager.cluster('templates')], [[], undefined]);
    await late.client.resource(CONFIG_MAPS).create(map('written'));
    abort.abort();
    await ended;
    assert.equal(early.signal.aborted, true);
    assert.throws(() => late.cache.informer(CONFIG_MAPS), /the cache was stopped/);
    assert.throws(() => manager.addCluster('later', other.client), /was stopped/);
  });

  test('is written only by who leads', async () => {
    const first = candidate('first');
    await first.manager.leading;
    const second = candidate('second');
    const companion = second.manager.addCluster('templates', server.client);
    await assert.rejects(companion.client.resource(CONFIG_MAPS).create(map('x')), { name: 'NotLeadingError' });
    const raw = companion.client.transport.request({ method: 'POST', path: '/api/v1/namespaces/default/configmaps' });
    await assert.rejects(raw, { name: 'NotLeadingError' });
    await companion.client.resource(CONFIG_MAPS).list();
  });
});

async function said(stream: NodeJS.ReadableStream, word: string): Promise<void> {
  let text = '';
  for await (const [chunk] of on(stream, 'data', { close: ['end'] })) {
    text += String(chunk);
    if (text.includes(word)) return;
  }
  throw new Error(`it said ${JSON.stringify(text)} and not ${word}`);
}
