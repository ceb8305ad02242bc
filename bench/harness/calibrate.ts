import { closeSync, fsyncSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { tmpdir } from 'node:os';
import { median } from './statistics.ts';

/** How fast this machine does something that never changes, right now. */
export interface CalibrationResult {
  name: string;
  opsPerSecond: number;
  msEach: number;
}

const REPEATS = 5;
const STEPS = 20_000_000;
const SYNCS = 50;

/**
 * A fixed loop on the CPU (by CPU time) and a fixed loop of `fsync` (by the clock, in the folder for temporary files, where
 * the servers of a bench keep their data): absolute figures of two runs compare only as far as these do.
 */
export function calibrate(): CalibrationResult[] {
  const cpu = median(Array.from({ length: REPEATS }, measureCpuLoop));
  const sync = median(Array.from({ length: REPEATS }, measureSyncLoop));
  return [
    { name: `CPU loop (${STEPS / 1e6} million xorshift steps)`, opsPerSecond: (STEPS / cpu) * 1000, msEach: cpu },
    { name: 'fsync of 4 KiB', opsPerSecond: (SYNCS / sync) * 1000, msEach: sync / SYNCS },
  ];
}

function measureCpuLoop(): number {
  const before = process.cpuUsage();
  let state = 2463534242;
  for (let step = 0; step < STEPS; step++) {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
  }
  const { user, system } = process.cpuUsage(before);
  // The generator never gives 0: its result is used, so that the loop is not optimized away.
  return state === 0 ? Number.NaN : (user + system) / 1000;
}

function measureSyncLoop(): number {
  const folder = mkdtempSync(join(tmpdir(), 'asterism-bench-'));
  const file = openSync(join(folder, 'sync'), 'w');
  const block = Buffer.alloc(4096, 1);
  const started = performance.now();
  try {
    for (let index = 0; index < SYNCS; index++) {
      writeSync(file, block);
      fsyncSync(file);
    }
    return performance.now() - started;
  } finally {
    closeSync(file);
    rmSync(folder, { recursive: true });
  }
}
