import { type BenchContext, defineBench, type FigureSpec } from '../harness/bench.ts';
import { interleave } from '../harness/interleave.ts';
import { ServedProcess } from '../harness/served-process.ts';
import { median } from '../harness/statistics.ts';
import { SOURCE_FLAGS } from '../runtime/source-flags.ts';
import type { Load, LoadAnswer } from './load.ts';
import { Ways } from './ways.ts';

const MB = 1e6;
const ROUNDS = 5;
/** Small calls go through more code than bytes do: it takes some seconds until all of it is compiled, at both ends. */
const WARM_UP = { down: 1, up: 1, small: 4 } as const;
const SMALL_MS = 2_000;
/** Half of a round trip of 40 ms. */
const DELAY_MS = 20;
const OTHERS = 50;

const SPLICE = 'connections joined byte for byte over the same three TLS hops';
const SSH = '`ssh -R` to the same target';

const against = (name: string, baseline: string, atLeast: number, unit = 'MB/s'): FigureSpec => ({
  name,
  unit,
  baseline: { name: baseline },
  goal: { of: 'ratio', atLeast },
});

const figures = {
  'down.splice': against('one stream down', SPLICE, 0.7),
  'up.splice': against('one stream up', SPLICE, 0.7),
  'many.splice': against('32 streams down', SPLICE, 0.8),
  'small.splice': against('calls of 1 KiB, 16 at a time', SPLICE, 0.6, 'calls/s'),
  'down.ssh': against('one stream down', SSH, 1),
  'up.ssh': against('one stream up', SSH, 1),
  'many.ssh': against('32 streams down', SSH, 1),
  'small.ssh': against('calls of 1 KiB, 16 at a time', SSH, 1, 'calls/s'),
  latency: {
    name: 'a lone call of 1 KiB, median: beyond one at the target itself',
    unit: 'ms',
    goal: { of: 'value', atMost: 1 },
  },
  'far.down': {
    name: 'one stream down at 40 ms round trip',
    unit: 'MB/s',
    baseline: { name: SPLICE },
    goal: { of: 'value', atLeast: 40 },
  },
  stopped: {
    name: `${OTHERS} streams down beside one that nobody reads`,
    unit: 'MB/s',
    baseline: { name: 'the same without that one' },
    goal: { of: 'ratio', atLeast: 0.95 },
  },
} as const satisfies Record<string, FigureSpec>;

type Context = BenchContext<keyof typeof figures>;
type Client = ServedProcess<Load, LoadAnswer>;

const LOADS = {
  down: { kind: 'down', streams: 1, bytes: 400 * MB, ms: 0 },
  up: { kind: 'up', streams: 1, bytes: 400 * MB, ms: 0 },
  many: { kind: 'down', streams: 32, bytes: 12 * MB, ms: 0 },
  small: { kind: 'small', streams: 16, bytes: 0, ms: SMALL_MS },
} as const satisfies Record<string, Omit<Load, 'port'>>;

/** What the tunnel costs on the way to a member: bytes a second, calls a second, what a call waits. */
export const tunnelBench = defineBench<keyof typeof figures>({
  name: 'tunnel',
  summary: 'bytes and calls through the tunnel, near and far, against a bare splice and ssh -R',
  minutes: 12,
  figures,
  async run(context) {
    await using parts = new AsyncDisposableStack();
    const { signal } = context;
    const ways = new Ways(parts, signal);
    const client: Client = parts.use(
      await ServedProcess.start(new URL('./load-process.ts', import.meta.url), signal, { flags: SOURCE_FLAGS }),
    );
    const target = await ways.target();
    const near = { ours: await ways.tunnel(target), splice: await ways.splice(target), ssh: await ways.ssh(target) };
    await compare(context, client, near);
    await measureLatency(context, client, { ours: near.ours, target });
    await measureStopped(context, client, near.ours);
    context.progress('40 ms away');
    const far = { ours: await ways.tunnel(target, DELAY_MS), splice: await ways.splice(target, DELAY_MS) };
    const bytes = 200 * MB;
    const load = (port: number) => () => rate(client, { ...LOADS.down, port, bytes });
    const found = await interleave(
      { ours: load(far.ours), splice: load(far.splice) },
      { rounds: 3, warmUp: 1, signal },
    );
    context.report('far.down', { values: inMb(found.ours), baselines: inMb(found.splice) });
  },
});

async function compare(
  { report, progress, signal }: Context,
  client: Client,
  ports: { ours: number; splice: number; ssh: number | undefined },
): Promise<void> {
  for (const [name, load] of Object.entries(LOADS) as [keyof typeof LOADS, (typeof LOADS)[keyof typeof LOADS]][]) {
    progress(name);
    const of = (port: number) => () => rate(client, { ...load, port });
    const { ours: port, splice, ssh } = ports;
    const subjects: Record<string, () => Promise<number>> = { ours: of(port), splice: of(splice) };
    if (ssh !== undefined) subjects['ssh'] = of(ssh);
    const found = await interleave(subjects, { rounds: ROUNDS, warmUp: WARM_UP[load.kind], signal });
    const scale = load.kind === 'small' ? (values: number[] = []) => values : inMb;
    const values = scale(found['ours']);
    report(`${name}.splice`, { values, baselines: scale(found['splice']) });
    if (found['ssh']) report(`${name}.ssh`, { values, baselines: scale(found['ssh']) });
    else report(`${name}.ssh`, { notMeasured: 'no sshd: install openssh-server', values });
  }
}

async function measureLatency(
  { report, progress, signal }: Context,
  client: Client,
  ports: { ours: number; target: number },
): Promise<void> {
  progress('a lone call');
  const lone = (port: number) => async () => {
    const { delaysMs } = await client.ask({ port, kind: 'small', streams: 1, bytes: 0, ms: SMALL_MS });
    return median(delaysMs);
  };
  const subjects = { ours: lone(ports.ours), target: lone(ports.target) };
  const { ours, target } = await interleave(subjects, { rounds: ROUNDS, warmUp: 1, signal });
  report('latency', { values: ours.map((ms, round) => ms - (target[round] ?? 0)) });
}

async function measureStopped({ report, progress, signal }: Context, client: Client, port: number): Promise<void> {
  progress('beside a stream that nobody reads');
  const beside = (ms: number) => () => rate(client, { port, kind: 'down', streams: OTHERS, bytes: 8 * MB, ms });
  const subjects = { stopped: beside(-1), free: beside(0) };
  const { stopped, free } = await interleave(subjects, { rounds: ROUNDS, warmUp: 1, signal });
  report('stopped', { values: inMb(stopped), baselines: inMb(free) });
}

async function rate(client: Client, load: Load): Promise<number> {
  return (await client.ask(load)).perSecond;
}

function inMb(values: readonly number[] = []): number[] {
  return values.map((value) => value / MB);
}
