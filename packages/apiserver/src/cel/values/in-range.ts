import { CelTimestamp, CelUint, fail } from './value.ts';

const MAX_INT = 2n ** 63n;
const MAX_UINT = 2n ** 64n;
/** The first and the last nanosecond of the years 1 to 9999. */
const FIRST_NANO = -62_135_596_800n * 1_000_000_000n;
const LAST_NANO = 253_402_300_800n * 1_000_000_000n - 1n;

export function checkInt(value: bigint): bigint {
  return value < MAX_INT && value >= -MAX_INT ? value : fail('integer overflow');
}

export function checkUint(value: bigint): CelUint {
  return value < MAX_UINT && value >= 0n ? new CelUint(value) : fail('unsigned integer overflow');
}

export function checkDuration(nanos: bigint): bigint {
  return nanos < MAX_INT && nanos >= -MAX_INT ? nanos : fail('duration overflow');
}

export function checkTimestamp(nanos: bigint): CelTimestamp {
  return nanos >= FIRST_NANO && nanos <= LAST_NANO ? new CelTimestamp(nanos) : fail('timestamp overflow');
}
