import { interleave } from '../harness/interleave.ts';
import { ServedProcess } from '../harness/served-process.ts';
import { SOURCE_FLAGS } from './source-flags.ts';

const PROCESS = new URL('./decode-process.ts', import.meta.url);
export const OBJECTS = 10_000;
const ROUNDS = 5;
/** So many compile: an informer runs for days, and what it costs in its first second is not what it costs. */
const WARM_UP = 4;

export type ObjectSet = 'pods' | 'mixed';
/** `parse`: with `JSON.parse`; `whole` and `metadata`: by an informer. */
export type Way = 'parse' | 'whole' | 'metadata';

export interface ToFill {
  set: ObjectSet;
  how: Way;
  objects: number;
}

export interface Filled {
  /** From the first byte of the watch to the last object in the store. */
  cpuMs: number;
  /** What the store holds, and all that belongs to it, after a collection. */
  bytes: number;
}

/** What 10,000 objects cost, of every round, by who reads them. */
export async function measureDecoding(set: ObjectSet, signal: AbortSignal): Promise<Record<Way, Filled[]>> {
  await using process = await ServedProcess.start<ToFill, Filled>(PROCESS, signal, { flags: SOURCE_FLAGS });
  const fill = (how: Way) => () => process.ask({ set, how, objects: OBJECTS });
  const subjects = { parse: fill('parse'), whole: fill('whole'), metadata: fill('metadata') };
  return await interleave(subjects, { rounds: ROUNDS, warmUp: WARM_UP, signal });
}
