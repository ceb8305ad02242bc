import { type BenchContext, defineBench, type FigureSpec, type Measurement } from '../harness/bench.ts';
import { rssOf } from '../harness/cpu-of.ts';
import { interleave } from '../harness/interleave.ts';
import { MissingBinary } from '../harness/real-binary.ts';
import { KUBERNETES, KUBERNETES_NO_FSYNC, loadFigures, loadMeasurements } from './figures.ts';
import { startKubernetesServer } from './kubernetes-server.ts';
import { startOurServer } from './our-server.ts';
import type { ServerUnderTest } from './server-under-test.ts';
import { type Sample, Subject } from './subject.ts';

const WATCHERS = 100;
const IDLE_WATCHERS = 5_000;
const CHANGES = 150;
const ROUNDS = 3;
const MIB = 2 ** 20;

/** At most so much of what the baseline takes. */
const atMost = (ratio: number, name: string, unit: string): FigureSpec => ({
  name,
  unit,
  baseline: { name: KUBERNETES },
  goal: { of: 'ratio', atMost: ratio },
});

const figures = {
  ...loadFigures('get', { what: 'GET one pod (5 KB), 16 in flight', cpu: 0.5 }),
  ...loadFigures('list', { what: 'LIST 1,000 pods, newest, 4 in flight', cpu: 0.25 }),
  ...loadFigures('listAny', { what: 'LIST 1,000 pods, resourceVersion=0, 4 in flight', cpu: 0.33 }),
  ...loadFigures('patch', { what: 'merge patch, synchronous=FULL, 16 in flight', cpu: 0.67 }),
  ...loadFigures('create', { what: 'create, synchronous=FULL, 16 in flight', cpu: 0.67 }),
  ...loadFigures('createNormal', {
    what: 'create, synchronous=NORMAL (default), 16 in flight',
    cpu: 0.67,
    baseline: KUBERNETES_NO_FSYNC,
  }),
  'watch.cpu': atMost(
    0.67,
    `one change to ${WATCHERS} watchers: CPU of the servers for each event, without the change`,
    'µs/event',
  ),
  'watch.p50': atMost(1, `one change to ${WATCHERS} watchers: until the last has it, p50`, 'ms'),
  'watch.p99': atMost(1, `one change to ${WATCHERS} watchers: until the last has it, p99`, 'ms'),
  'watch.memory': atMost(
    1,
    `resident memory that ${IDLE_WATCHERS.toLocaleString('en-US')} idle watches add, for each`,
    'KiB',
  ),
  'memory.start': atMost(0.5, 'resident memory when ready', 'MiB'),
  'memory.load': atMost(0.5, 'resident memory after reads, lists and watches', 'MiB'),
  'start.cpu': atMost(0.33, 'CPU from start to ready', 'ms'),
  'start.wall': atMost(0.33, 'time from start to ready', 'ms'),
} as const satisfies Parameters<typeof defineBench>[0]['figures'];

type Figure = keyof typeof figures;

/** `@asterism/apiserver` beside the real kube-apiserver: the same requests, from a third process. */
export const apiserverBench = defineBench<Figure>({
  name: 'apiserver',
  summary: 'our API server against kube-apiserver with etcd: GET, LIST, create, patch, watch',
  minutes: 5,
  figures,
  async run(context) {
    await measureReadsAndWatches(context);
    await measureDefaultWrites(context);
  },
});

type Context = BenchContext<Figure>;

/** Two prepared servers; or ours and the reason why there is nothing to compare with. */
interface Pair {
  ours: Subject;
  theirs: Subject | string;
}

async function measureReadsAndWatches(context: Context): Promise<void> {
  await using stack = new AsyncDisposableStack();
  context.progress('starting both servers, with fsync, and filling them');
  const pair = await startPair(stack, { synchronous: 'FULL', fsync: 'fsync' }, context);
  reportStart(pair, context);
  await measureLoad('get', pair, (subject) => subject.get(1.5), context);
  await measureLoad('list', pair, (subject) => subject.list('newest', 2), context);
  await measureLoad('listAny', pair, (subject) => subject.list('any', 2), context);
  await measureFanOut(pair, context);
  report(context, 'memory.load', pair, (subject) => rssOf(subject.server.pids) / MIB);
  await measureLoad('patch', pair, (subject) => subject.patch(1.5), context);
  await measureLoad('create', pair, (subject) => subject.create(1.5), context);
}

async function measureDefaultWrites(context: Context): Promise<void> {
  await using stack = new AsyncDisposableStack();
  context.progress('starting both servers, without an fsync at each write');
  const pair = await startPair(stack, { synchronous: 'NORMAL', fsync: 'no fsync' }, context);
  await measureIdleWatches(pair, context);
  await measureLoad('createNormal', pair, (subject) => subject.create(1.5), context);
}

async function startPair(
  stack: AsyncDisposableStack,
  durability: { synchronous: 'NORMAL' | 'FULL'; fsync: 'fsync' | 'no fsync' },
  { signal }: Context,
): Promise<Pair> {
  const prepare = async (server: ServerUnderTest): Promise<Subject> => {
    stack.use(server);
    return stack.use(await Subject.prepare(server, signal));
  };
  const ours = await prepare(await startOurServer(durability.synchronous, { signal }));
  try {
    return { ours, theirs: await prepare(await startKubernetesServer(durability.fsync, { signal })) };
  } catch (error) {
    if (error instanceof MissingBinary) return { ours, theirs: error.message };
    throw error;
  }
}

/** One number of each. */
function report(context: Context, figure: Figure, { ours, theirs }: Pair, of: (subject: Subject) => number): void {
  const values = [of(ours)];
  context.report(
    figure,
    typeof theirs === 'string' ? { values, notMeasured: theirs } : { values, baselines: [of(theirs)] },
  );
}

function reportStart(pair: Pair, context: Context): void {
  report(context, 'start.cpu', pair, ({ server }) => server.start.cpuMs);
  report(context, 'start.wall', pair, ({ server }) => server.start.wallMs);
  report(context, 'memory.start', pair, ({ server }) => server.start.rssBytes / MIB);
}

/** Every round of ours with the round of theirs beside it. */
async function measureBoth<T>(
  { ours, theirs }: Pair,
  measure: (subject: Subject) => Promise<T>,
  options: { rounds: number; warmUp: number; signal: AbortSignal },
): Promise<{ ours: T[]; theirs: T[] | string }> {
  if (typeof theirs === 'string') {
    const alone = await interleave({ ours: () => measure(ours) }, options);
    return { ours: alone.ours, theirs };
  }
  return await interleave({ ours: () => measure(ours), theirs: () => measure(theirs) }, options);
}

type MeasuredLoad = 'get' | 'list' | 'listAny' | 'patch' | 'create' | 'createNormal';

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
  context.progress(`one change to ${WATCHERS} watchers`);
  const measure = async (subject: Subject) => {
    const alone = await subject.change(CHANGES);
    await subject.watch(WATCHERS);
    const watched = await subject.changeWatched(CHANGES);
    await subject.unwatch();
    return { ...watched, cpuUsEach: ((watched.cpuMsEach - alone.cpuMsEach) / WATCHERS) * 1000 };
  };
  const options = { rounds: ROUNDS, warmUp: 1, signal: context.signal };
  const { ours, theirs } = await measureBoth(pair, measure, options);
  const compare = (of: (sample: (typeof ours)[number]) => number): Measurement =>
    typeof theirs === 'string'
      ? { values: ours.map(of), notMeasured: theirs }
      : { values: ours.map(of), baselines: theirs.map(of) };
  context.report(
    'watch.cpu',
    compare(({ cpuUsEach }) => cpuUsEach),
  );
  context.report(
    'watch.p50',
    compare(({ p50Ms }) => p50Ms),
  );
  context.report(
    'watch.p99',
    compare(({ p99Ms }) => p99Ms),
  );
}

async function measureIdleWatches(pair: Pair, context: Context): Promise<void> {
  context.progress(`${IDLE_WATCHERS} idle watches`);
  const measure = async (subject: Subject): Promise<number> => {
    const before = rssOf(subject.server.pids);
    await subject.watch(IDLE_WATCHERS);
    const added = rssOf(subject.server.pids) - before;
    await subject.unwatch();
    return added / IDLE_WATCHERS / 1024;
  };
  // Once, in servers that have done little: memory that was used before is used again, and does not show.
  const { ours, theirs } = await measureBoth(pair, measure, { rounds: 1, warmUp: 0, signal: context.signal });
  context.report(
    'watch.memory',
    typeof theirs === 'string' ? { values: ours, notMeasured: theirs } : { values: ours, baselines: theirs },
  );
}
