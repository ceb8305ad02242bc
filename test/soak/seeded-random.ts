import type { TestContext } from 'node:test';
import { mulberry32 } from './mulberry32.ts';

/** Numbers from 0 to below 1 that follow from `ASTERISM_SEED`, or from a seed of now; the seed is told, so that a run can be repeated. */
export function seededRandom(context: TestContext): () => number {
  const seed = Number(process.env['ASTERISM_SEED'] ?? Date.now() % 1_000_000) >>> 0;
  context.diagnostic(`seed ${seed}: repeat with ASTERISM_SEED=${seed}`);
  return mulberry32(seed);
}
