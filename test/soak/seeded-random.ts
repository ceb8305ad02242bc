import type { TestContext } from 'node:test';

/** Numbers from 0 to below 1 that follow from `ASTERISM_SEED`, or from a seed of now; the seed is told, so that a run can be repeated. */
export function seededRandom(context: TestContext): () => number {
  let state = Number(process.env['ASTERISM_SEED'] ?? Date.now() % 1_000_000) >>> 0;
  context.diagnostic(`seed ${state}: repeat with ASTERISM_SEED=${state}`);
  // mulberry32
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let value = Math.imul(state ^ (state >>> 15), state | 1);
    value ^= value + Math.imul(value ^ (value >>> 7), value | 61);
    return ((value ^ (value >>> 14)) >>> 0) / 4_294_967_296;
  };
}
