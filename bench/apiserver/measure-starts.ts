import { setTimeout as delay } from 'node:timers/promises';
import type { FigureSpec, Measurement } from '../harness/bench.ts';
import { rssOf } from '../harness/cpu-of.ts';
import { type Form, OurInstallation } from './our-server.ts';

const STARTS = 5;
/** How long a server has nothing to do before its memory counts. */
const IDLE_MS = 2_000;
const MB = 1e6;

/** `new`: on an empty folder. `again`: on what an earlier start left there. */
const CASES = {
  new: { form: 'compiled', again: false, what: 'an empty data folder' },
  again: { form: 'compiled', again: true, what: 'an existing data folder' },
  source: { form: 'source', again: false, what: 'from TypeScript, an empty data folder' },
} as const satisfies Record<string, { form: Form; again: boolean; what: string }>;

type Case = keyof typeof CASES;
export type StartFigure = `start.${Case}.${'ready' | 'idle'}`;

const goal = (form: Form, atMost: number): Pick<FigureSpec, 'goal'> =>
  form === 'compiled' ? { goal: { of: 'value', atMost } } : {};

export const startFigures = Object.fromEntries(
  Object.entries(CASES).flatMap(([name, { form, what }]): [string, FigureSpec][] => [
    [`start.${name}.ready`, { name: `from start to ready, ${what}`, unit: 'ms', ...goal(form, 300) }],
    [`start.${name}.idle`, { name: `idle: resident memory, ${what}`, unit: 'MB', ...goal(form, 80) }],
  ]),
) as Record<StartFigure, FigureSpec>;

/** Starts our server again and again, alone; one start beforehand, after which Node has its compiled code. */
export async function measureStarts(
  report: (figure: StartFigure, measurement: Measurement) => void,
  signal: AbortSignal,
): Promise<void> {
  for (const [name, { form, again }] of Object.entries(CASES) as [Case, (typeof CASES)[Case]][]) {
    const samples: { readyMs: number; idleBytes: number }[] = [];
    for (let start = 0; start <= STARTS; start++) {
      await using installation = await OurInstallation.create();
      if (again) await (await installation.start('NORMAL', { signal, form }))[Symbol.asyncDispose]();
      await using server = await installation.start('NORMAL', { signal, form });
      await delay(IDLE_MS, undefined, { signal });
      if (start > 0) samples.push({ readyMs: server.start.wallMs, idleBytes: rssOf(server.pids) });
    }
    report(`start.${name}.ready`, { values: samples.map(({ readyMs }) => readyMs) });
    report(`start.${name}.idle`, { values: samples.map(({ idleBytes }) => idleBytes / MB) });
  }
}
