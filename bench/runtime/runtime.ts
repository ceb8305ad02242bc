import { type BenchContext, defineBench, type FigureSpec } from '../harness/bench.ts';
import { measureIsolation } from './isolation.ts';
import { CLUSTERS, measureSync, OBJECTS_EACH } from './sync.ts';
import { measureWatches } from './watches.ts';
import { type Filled, measureDecoding, type ObjectSet, OBJECTS, type Way } from './decode.ts';

const PARSE = { name: '`JSON.parse` of the same objects, into a Map' };
const THEIRS = { name: "`@kubernetes/client-node`'s informer" };
const MANY = { clusters: 200, kinds: 20 };
/** As many as a connection for each of them allows. */
const FEW = { clusters: 20, kinds: 20 };
const ALL = OBJECTS.toLocaleString('en');
const STEADY = { name: 'what it is once all is known' };
const WELL = { name: 'all three well' };
const FIRST_LISTS = `first lists of ${CLUSTERS} clusters of ${OBJECTS_EACH.toLocaleString('en')} pods`;

const perSecond = (what: string, atLeast: number): FigureSpec => ({
  name: `${ALL} pods of 9 KB from a watch into a store, ${what}`,
  unit: 'events/s of CPU',
  baseline: PARSE,
  goal: { of: 'ratio', atLeast },
});
const heap = (what: string, atMost: number): FigureSpec => ({
  name: `memory of a cached object, ${what}`,
  unit: 'KB',
  baseline: PARSE,
  goal: { of: 'value', atMost },
});
const peak = (how: string): FigureSpec => ({
  name: `${FIRST_LISTS}, ${how}: the most memory`,
  unit: 'MB',
  baseline: STEADY,
  goal: { of: 'ratio', atMost: 1.5 },
});
const block = (how: string): FigureSpec => ({
  name: `${FIRST_LISTS}, ${how}: the longest that the event loop was busy with one round`,
  unit: 'ms of CPU',
  goal: { of: 'value', atMost: 50 },
});
const others = (third: string): FigureSpec => ({
  name: `an event to the start of its reconcile in two clusters while a third is ${third}: p99`,
  unit: 'ms',
  baseline: WELL,
  goal: { of: 'ratio', atMost: 1.2 },
});

const figures = {
  'decode.whole': perSecond('equal parts shared', 1.25),
  'decode.metadata': perSecond('metadata only', 10),
  'heap.pods.whole': heap('pods, equal parts shared', 3.5),
  'heap.pods.metadata': heap('pods, metadata only', 0.5),
  'heap.mixed.whole': heap('20 kinds, equal parts shared', 3.5),
  'heap.mixed.metadata': heap('20 kinds, metadata only', 0.5),
  'watch.memory': {
    name: `resident memory of a watch of ${MANY.clusters * MANY.kinds} (${MANY.clusters} clusters of ${MANY.kinds} kinds)`,
    unit: 'KB',
    goal: { of: 'value', atMost: 20 },
  },
  'watch.few': {
    name: `the same of ${FEW.clusters * FEW.kinds} (${FEW.clusters} clusters)`,
    unit: 'KB',
    baseline: THEIRS,
    goal: { of: 'ratio', atMost: 0.2 },
  },
  'watch.events': {
    name: `events of 1 KB to these ${FEW.clusters * FEW.kinds} watches`,
    unit: 'events/s of CPU',
    baseline: THEIRS,
    goal: { of: 'ratio', atLeast: 2.5 },
  },
  'sync.stream.memory': peak('sent over watches'),
  'sync.stream.block': block('sent over watches'),
  'sync.pages.memory': peak('in pages'),
  'sync.pages.block': block('in pages'),
  'isolation.frozen': others('frozen'),
  'isolation.killed': others('killed'),
} as const satisfies Record<string, FigureSpec>;

type Context = BenchContext<keyof typeof figures>;

/** What informers cost. */
export const runtimeBench = defineBench<keyof typeof figures>({
  name: 'runtime',
  summary:
    'informers: reading events, the memory of what is cached and of watches, first lists, what an absent cluster does to others',
  minutes: 10,
  figures,
  async run(context) {
    for (const set of ['pods', 'mixed'] as const) {
      context.progress(`filling stores: ${set}`);
      reportDecoding(set, await measureDecoding(set, context.signal), context);
    }
    await reportWatches(context);
    await reportSync(context);
    await reportIsolation(context);
  },
});

function reportDecoding(set: ObjectSet, found: Record<Way, Filled[]>, { report }: Context): void {
  const rate = ({ cpuMs }: Filled): number => (OBJECTS / cpuMs) * 1000;
  const each = ({ bytes }: Filled): number => bytes / OBJECTS / 1000;
  for (const way of ['whole', 'metadata'] as const) {
    report(`heap.${set}.${way}`, { values: found[way].map(each), baselines: found.parse.map(each) });
    if (set === 'pods') report(`decode.${way}`, { values: found[way].map(rate), baselines: found.parse.map(rate) });
  }
}

async function reportWatches({ report, progress, signal }: Context): Promise<void> {
  progress('opening many watches');
  const many = await measureWatches('ours', MANY, signal);
  report('watch.memory', { values: [many.bytesEach / 1000] });
  progress('opening fewer, with either library');
  const ours = await measureWatches('ours', FEW, signal);
  const theirs = await measureWatches('theirs', FEW, signal);
  report('watch.few', { values: [ours.bytesEach / 1000], baselines: [theirs.bytesEach / 1000] });
  report('watch.events', { values: ours.eventsPerSecond, baselines: theirs.eventsPerSecond });
}

async function reportSync({ report, progress, signal }: Context): Promise<void> {
  for (const lists of ['stream', 'pages'] as const) {
    progress(`following many clusters at once: ${lists}`);
    const { peakBytes, steadyBytes, blockMs } = await measureSync(lists, signal);
    report(`sync.${lists}.memory`, { values: [peakBytes / 1e6], baselines: [steadyBytes / 1e6] });
    report(`sync.${lists}.block`, { values: [blockMs] });
  }
}

async function reportIsolation({ report, progress, signal }: Context): Promise<void> {
  progress('freezing and killing a cluster');
  const { well, frozen, killed } = await measureIsolation(signal);
  report('isolation.frozen', { values: frozen, baselines: well });
  report('isolation.killed', { values: killed, baselines: well });
}
