import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { startTestServer, type TestServer } from '@asterism/apiserver/testing';
import { type ConfigMap, CONFIG_MAPS } from '@asterism/machinery';
import { watchResource } from '../watch/watcher.ts';
import { rankPeers } from './rank-peers.ts';

const TIMES = { leaseDurationMs: 3_000, renewDeadlineMs: 2_000, retryPeriodMs: 300, yieldMs: 2_000 };
/** What a busy machine may take on top of them, ms. */
const SLACK_MS = 3_000;
const CLUSTERS = ['amiens', 'brest', 'caen', 'dijon', 'evry', 'frejus'];

let server: TestServer;
let folder: string;
let children: Map<string, ChildProcess>;
let abort: AbortController;
/** By cluster, who wrote to it, each time that it was another. */
let writers: Map<string, string[]>;
let written: PromiseWithResolvers<void>;
let watching: Promise<void>;

beforeEach(async () => {
  server = await startTestServer();
  folder = await mkdtemp(join(tmpdir(), 'asterism-shards-'));
  children = new Map();
  abort = new AbortController();
  writers = new Map(CLUSTERS.map((cluster) => [cluster, []]));
  written = Promise.withResolvers();
  watching = follow().catch(() => {});
  await server.client.resource(CONFIG_MAPS).create({ metadata: { namespace: 'default', name: 'beat' } });
});

afterEach(async () => {
  for (const child of children.values()) child.kill('SIGKILL');
  abort.abort();
  await watching;
  await server.stop();
  await rm(folder, { recursive: true });
});

async function follow(): Promise<void> {
  for await (const event of watchResource(server.client.resource(CONFIG_MAPS), { signal: abort.signal })) {
    if (event.type !== 'Apply' && event.type !== 'InitApply') continue;
    const { metadata, data } = event.object as ConfigMap;
    const seen = writers.get(metadata?.name?.replace('of-', '') ?? '');
    const by = data?.['by'];
    if (seen && by && seen.at(-1) !== by) seen.push(by);
    written.resolve();
    written = Promise.withResolvers();
  }
}

async function begin(identity: string): Promise<ChildProcess> {
  const program = fileURLToPath(new URL('testing/shard-process.ts', import.meta.url));
  const kubeconfig = await server.kubeconfig(join(folder, `kubeconfig-${identity}`));
  const node = ['--conditions=asterism-source', '--disable-warning=ExperimentalWarning', program];
  const args = [...node, kubeconfig, identity, JSON.stringify(TIMES), ...CLUSTERS];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'inherit', 'inherit'] });
  children.set(identity, child);
  return child;
}

/** Waits until each cluster is written to by whom it falls to among these. */
async function shared(identities: string[], withinMs: number): Promise<void> {
  const deadline = AbortSignal.timeout(withinMs);
  const late = once(deadline, 'abort');
  const expected = CLUSTERS.map((cluster) => rankPeers(cluster, identities)[0]);
  const now = () => CLUSTERS.map((cluster) => writers.get(cluster)?.at(-1));
  while (JSON.stringify(now()) !== JSON.stringify(expected)) {
    await Promise.race([written.promise, late]);
    assert.ok(!deadline.aborted, `after ${withinMs} ms: ${now().join()}, not ${expected.join()}`);
  }
}

test("processes that are killed, frozen, woken and stopped: each cluster is one process's, and soon another's", async () => {
  const a = await begin('a');
  await shared(['a'], 15_000);
  const b = await begin('b');
  const c = await begin('c');
  await shared(['a', 'b', 'c'], 20_000);
  a.kill('SIGKILL');
  // The bound of 25 s, in these times: a Lease and a renewal.
  await shared(['b', 'c'], TIMES.leaseDurationMs + TIMES.retryPeriodMs + SLACK_MS);
  b.kill('SIGSTOP');
  await shared(['c'], TIMES.leaseDurationMs + TIMES.retryPeriodMs + SLACK_MS);
  const before = new Map([...writers].map(([cluster, seen]) => [cluster, seen.length]));
  b.kill('SIGCONT');
  await shared(['b', 'c'], TIMES.leaseDurationMs + SLACK_MS);
  for (const [cluster, seen] of writers) {
    // It writes when it has been given the cluster again, and from then on it alone. The one request that was on its way when it
    // froze may arrive; none is begun by whoever wakes.
    const expected = rankPeers(cluster, ['b', 'c'])[0] === 'b' ? 'b' : '';
    const since = seen.slice(before.get(cluster)).join();
    const onItsWay = expected === '' ? 'b,c' : 'b,c,b';
    assert.ok([expected, onItsWay].includes(since), `${cluster}: ${since}`);
  }
  const ended = once(c, 'exit');
  c.kill('SIGTERM');
  await shared(['b'], 2_000);
  assert.deepEqual(await ended, [0, null]);
});
