// A reporter of node's test runner: for each test file a line with its milliseconds, a tab, and its name.

/** @param {AsyncIterable<{ type: string, data: { file?: string, nesting?: number, duration_ms?: number, details?: { duration_ms?: number } } }>} events */
export default async function* fileTimes(events) {
  /** @type {Map<string, number>} */
  const whole = new Map();
  /** @type {Map<string, number>} */
  const summed = new Map();
  for await (const { type, data } of events) {
    const { file, nesting = 0 } = data;
    if (file === undefined) continue;
    if (type === 'test:summary') whole.set(file, data.duration_ms ?? 0);
    // Files that share a process have no summary of their own.
    else if ((type === 'test:pass' || type === 'test:fail') && nesting === 0) {
      summed.set(file, (summed.get(file) ?? 0) + (data.details?.duration_ms ?? 0));
    }
  }
  for (const [file, ms] of new Map([...summed, ...whole])) yield `${Math.round(ms)}\t${file}\n`;
}
