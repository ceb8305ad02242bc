import { setImmediate as turn } from 'node:timers/promises';
import type { Instruments } from '../instruments/instruments.ts';

/** The samples of the text format by name and labels, in the order in which they are written: `name{a="b"}`. */
export async function samplesOf(metrics: Pick<Instruments, 'read'>): Promise<Map<string, number>> {
  const { text } = await metrics.read();
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return new Map(
    lines.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ')))]),
  );
}

/** Reads until a sample has this value. */
export async function sampled(metrics: Pick<Instruments, 'read'>, name: string, value: number): Promise<void> {
  while ((await samplesOf(metrics)).get(name) !== value) await turn();
}
