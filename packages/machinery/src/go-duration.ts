// The two signs for micro (µ, μ) are written as escapes: one character outside Latin-1 doubles what V8 keeps of a bundle's text.
const UNITS = '(?:ns|us|\\u00b5s|\\u03bcs|ms|s|m|h)';
const AMOUNT = '(?:\\d+(?:\\.\\d*)?|\\.\\d+)';
const DURATION = new RegExp(`^[+-]?(?:0|(?:${AMOUNT}${UNITS})+)$`);
const PART = new RegExp(`(${AMOUNT})(${UNITS})`, 'gy');

const UNIT_NANOS: Readonly<Record<string, number>> = {
  ns: 1,
  us: 1e3,
  '\u00b5s': 1e3,
  '\u03bcs': 1e3,
  ms: 1e6,
  s: 1e9,
  m: 60e9,
  h: 3600e9,
};

/** Whether Go's `time.ParseDuration` takes the text: `5s`, `1m30s`, `-1.5h`, `0`. */
export function isGoDuration(text: string): boolean {
  return DURATION.test(text);
}

/** `1h0m0.5s`, as Go's `time.Duration` prints nanoseconds. */
export function formatGoDuration(nanos: number): string {
  if (nanos === 0) return '0s';
  const sign = nanos < 0 ? '-' : '';
  const left = Math.abs(nanos);
  if (left < 1e9) {
    const [unit, size] = left < 1e3 ? ['ns', 1] : left < 1e6 ? ['\u00b5s', 1e3] : ['ms', 1e6];
    return `${sign}${left / (size as number)}${unit}`;
  }
  const hours = Math.floor(left / 3600e9);
  const minutes = Math.floor((left % 3600e9) / 60e9);
  const seconds = (left % 60e9) / 1e9;
  return `${sign}${hours > 0 ? `${hours}h` : ''}${hours > 0 || minutes > 0 ? `${minutes}m` : ''}${seconds}s`;
}

/** In nanoseconds: the inverse of {@link formatGoDuration}. */
export function parseGoDuration(duration: string): number {
  let nanos = 0;
  for (const [, amount = '0', unit = 's'] of duration.replace(/^[+-]/, '').matchAll(PART))
    nanos += Number(amount) * (UNIT_NANOS[unit] ?? 0);
  return Math.round(duration.startsWith('-') ? -nanos : nanos);
}
