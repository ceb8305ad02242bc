import { type BenchContext, defineBench } from '../harness/bench.ts';
import { rssOf } from '../harness/cpu-of.ts';
import { buildPackages } from './build-packages.ts';
import { KUBERNETES, KUBERNETES_NO_FSYNC, loadFigures, loadMeasurements } from './figures.ts';
import { measureStarts, startFigures } from './measure-starts.ts';
import { atMost, compared, measureBoth, type Pair, startPair } from './pair.ts';
import type { Sample, Subject } from './subject.ts';

const WATCHERS = 1_000;
const CHANGES = 30;
const IDLE_WATCHERS = 10_000;
const ROUNDS = 3;
/** 26 MB. */
const WIDE_PODS = 5_000;
const MANY_PODS = 10_000;
const ALL_PODS = 50_000;
const MIB = 2 ** 20;
const MB = 1e6;

/** So many times as much for each CPU second. */
const TIMES = { three: 0.333, four: 0.25, oneAndAHalf: 0.667 };

const figures = {
  ...loadFigures('get', { what: 'GET one pod (5 KB), 16 in flight', cpu: TIMES.three }),
  ...loadFigures('list', { what: 'LIST 1,000 pods, newest, 4 in flight', cpu: TIMES.four }),
  ...loadFigures('listAny', { what: 'LIST 1,000 pods, resourceVersion=0, 4 in flight', cpu: TIMES.four }),
  ...loadFigures('create', { what: 'create, synchronous=FULL, 16 in flight', cpu: TIMES.oneAndAHalf }),
  ...loadFigures('update', { what: 'update, synchronous=FULL, 16 in flight', cpu: TIMES.oneAndAHalf }),
  ...loadFigures('patch', { what: 'merge patch, synchronous=FULL, 16 in flight', cpu: TIMES.oneAndAHalf }),
  ...loadFigures('apply', { what: 'apply patch, synchronous=FULL, 16 in flight', cpu: TIMES.oneAndAHalf }),
  ...loadFigures('createNormal', {
    what: 'create, synchronous=NORMAL, 16 in flight',
    cpu: TIMES.oneAndAHalf,
    baseline: KUBERNETES_NO_FSYNC,
  }),
  'watch.cpu': atMost(
    TIMES.oneAndAHalf,
    `one change to ${format(WATCHERS)} watchers: CPU of the servers for each event, without the change`,
    'µs/event',
    KUBERNETES,
  ),
  'watch.p50': atMost(1, `one change to ${format(WATCHERS)} watchers: until the last has it, p50`, 'ms', KUBERNETES),
  'watch.p99': atMost(1, `one change to ${format(WATCHERS)} watchers: until the last has it, p99`, 'ms', KUBERNETES),
  'memory.load': atMost(0.5, 'resident memory after reads, lists, writes and watches', 'MiB', KUBERNETES),
  'start.cpu': atMost(0.33, 'CPU from start to ready', 'ms', KUBERNETES),
  'start.wall': atMost(0.33, 'time from start to ready', 'ms', KUBERNETES),
  'memory.start': atMost(0.5, 'resident memory when ready', 'MiB', KUBERNETES),
  ...startFigures,
  'idle.each': atMost(
    1,
    `resident memory that ${format(IDLE_WATCHERS)} idle watches add, for each`,
    'KiB',
    KUBERNETES_NO_FSYNC,
  ),
  'idle.added': {
    name: `resident memory that ${format(IDLE_WATCHERS)} idle watches as HTTP/2 streams add`,
    unit: 'MB',
    baseline: { name: KUBERNETES_NO_FSYNC },
    goal: { of: 'value', atMost: 150 },
  },
  'idle.total': {
    name: `resident memory of the server, which has 1,000 pods, with ${format(IDLE_WATCHERS)} idle watches as HTTP/2 streams`,
    unit: 'MB',
    baseline: { name: KUBERNETES_NO_FSYNC },
  },
  ...loadFigures('listMany', {
    what: 'LIST 10,000 pods, newest, 4 in flight',
    cpu: TIMES.four,
    baseline: KUBERNETES_NO_FSYNC,
  }),
  ...loadFigures('listManyAny', {
    what: 'LIST 10,000 pods, resourceVersion=0, 4 in flight',
    cpu: TIMES.four,
    baseline: KUBERNETES_NO_FSYNC,
  }),
  'listing.p99': {
    name: `GET while a list of 26 MB is served to ten clients: p99`,
    unit: 'ms',
    baseline: { name: KUBERNETES_NO_FSYNC },
    goal: { of: 'value', atMost: 20 },
  },
  'memory.full': atMost(0.25, `resident memory with ${format(ALL_PODS)} pods`, 'MiB', KUBERNETES_NO_FSYNC),
} as const satisfies Parameters<typeof defineBench>[0]['figures'];

type Figure = keyof typeof figures;
type Context = BenchContext<Figure>;

/** `@asterism/apiserver` beside the real kube-apiserver: the same requests, from a third process. */
export const apiserverBench = defineBench<Figure>({
  name: 'apiserver',
  summary: 'our API server against kube-apiserver with etcd: verbs, lists, watches, memory, start',
  minutes: 12,
  figures,
  async run(context) {
    context.progress('compiling the packages');
    await buildPackages(context.signal);
    context.progress('starting our server again and again');
    await measureStarts(context.report, context.signal);
    await measureVerbs(context);
    await measureMany(context);
  },
});

async function measureVerbs(context: Context): Promise<void> {
  await using stack = new AsyncDisposableStack();
  context.progress('starting both servers, with fsync, and filling them');
  const pair = await startPair(stack, { synchronous: 'FULL', fsync: 'fsync' }, context.signal);
  report(context, 'start.cpu', pair, ({ server }) => server.start.cpuMs);
  report(context, 'start.wall', pair, ({ server }) => server.start.wallMs);
  report(context, 'memory.start', pair, ({ server }) => server.start.rssBytes / MIB);
  await measureLoad('get', pair, (subject) => subject.get(3), context);
  await measureLoad('list', pair, (subject) => subject.list('read', 'newest', 2), context);
  await measureLoad('listAny', pair, (subject) => subject.list('read', 'any', 2), context);
  await measureLoad('create', pair, (subject) => subject.create(1.5), context);
  await measureLoad('update', pair, (subject) => subject.update(1.5), context);
  await measureLoad('patch', pair, (subject) => subject.patch(1.5), context);
  await measureLoad('apply', pair, (subject) => subject.apply(1.5), context);
  await measureFanOut(pair, context);
  report(context, 'memory.load', pair, ({ server }) => rssOf(server.pids) / MIB);
}

/** Without an fsync at each write: filling the servers would take minutes. */
async function measureMany(context: Context): Promise<void> {
  await using stack = new AsyncDisposableStack();
  context.progress('starting both servers, without an fsync at each write');
  const pair = await startPair(stack, { synchronous: 'NORMAL', fsync: 'no fsync' }, context.signal);
  await measureIdleWatches(pair, context);
  await measureLoad('createNormal', pair, (subject) => subject.create(1.5), context);
  context.progress(`filling both with ${format(WIDE_PODS + MANY_PODS)} pods`);
  await inBoth(pair, async (subject) => {
    await subject.fill('wide', WIDE_PODS);
    await subject.fill('many', MANY_PODS);
  });
  await measureLoad('listMany', pair, (subject) => subject.list('many', 'newest', 3), context);
  await measureLoad('listManyAny', pair, (subject) => subject.list('many', 'any', 3), context);
  context.progress(figures['listing.p99'].name);
  const options = { rounds: ROUNDS, warmUp: 1, signal: context.signal };
  const listing = await measureBoth(pair, (subject) => subject.getWhileListing(4), options);
  context.report(
    'listing.p99',
    compared(listing, ({ p99Ms }) => p99Ms),
  );
  context.progress(`filling both with ${format(ALL_PODS)} pods`);
  await inBoth(pair, (subject) => subject.fill('rest', ALL_PODS - WIDE_PODS - MANY_PODS));
  report(context, 'memory.full', pair, ({ server }) => rssOf(server.pids) / MIB);
}

async function inBoth({ ours, theirs }: Pair, work: (subject: Subject) => Promise<void>): Promise<void> {
  await Promise.all([work(ours), typeof theirs === 'string' ? undefined : work(theirs)]);
}

/** One number of each. */
function report(context: Context, figure: Figure, { ours, theirs }: Pair, of: (subject: Subject) => number): void {
  context.report(figure, compared({ ours: [ours], theirs: typeof theirs === 'string' ? theirs : [theirs] }, of));
}

type MeasuredLoad =
  | 'get'
  | 'list'
  | 'listAny'
  | 'listMany'
  | 'listManyAny'
  | 'create'
  | 'update'
  | 'patch'
  | 'apply'
  | 'createNormal';

async function measureLoad(
  load: MeasuredLoad,
  pair: Pair,
  measure: (subject: Subject) => Promise<Sample>,
  context: Context,
): Promise<void> {
  context.progress(figures[`${load}.cpu`].name.replace(/:.*/, ''));
  const { signal } = context;
  const { ours, theirs } = await measureBoth(pair, measure, { rounds: ROUNDS, warmUp: 1, signal });
  for (const [id, measurement] of Object.entries(loadMeasurements(ours, theirs))) {
    context.report(`${load}.${id}` as Figure, measurement);
  }
}

async function measureFanOut(pair: Pair, context: Context): Promise<void> {
  context.progress(`one change to ${format(WATCHERS)} watchers`);
  const measure = async (subject: Subject) => {
    const alone = await subject.change(CHANGES);
    await subject.watch(WATCHERS);
    const watched = await subject.changeWatched(CHANGES);
    await subject.unwatch();
    return { ...watched, cpuUsEach: ((watched.cpuMsEach - alone.cpuMsEach) / WATCHERS) * 1000 };
  };
  const options = { rounds: ROUNDS, warmUp: 1, signal: context.signal };
  const samples = await measureBoth(pair, measure, options);
  context.report(
    'watch.cpu',
    compared(samples, ({ cpuUsEach }) => cpuUsEach),
  );
  context.report(
    'watch.p50',
    compared(samples, ({ p50Ms }) => p50Ms),
  );
  context.report(
    'watch.p99',
    compared(samples, ({ p99Ms }) => p99Ms),
  );
}

async function measureIdleWatches(pair: Pair, context: Context): Promise<void> {
  context.progress(`${format(IDLE_WATCHERS)} idle watches`);
  const measure = async (subject: Subject) => {
    const before = rssOf(subject.server.pids);
    await subject.watch(IDLE_WATCHERS);
    const after = rssOf(subject.server.pids);
    await subject.unwatch();
    return { added: after - before, after };
  };
  // Once, in servers that have done little: memory that was used before is used again, and does not show.
  const samples = await measureBoth(pair, measure, { rounds: 1, warmUp: 0, signal: context.signal });
  context.report(
    'idle.each',
    compared(samples, ({ added }) => added / IDLE_WATCHERS / 1024),
  );
  context.report(
    'idle.added',
    compared(samples, ({ added }) => added / MB),
  );
  context.report(
    'idle.total',
    compared(samples, ({ after }) => after / MB),
  );
}

function format(count: number): string {
  return count.toLocaleString('en-US');
}
