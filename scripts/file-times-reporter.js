// A reporter of node's test runner: for each test file a line with its milliseconds, a tab, and its path.

/** @typedef {{ file?: string, name?: string, nesting?: number, duration_ms?: number, details?: { duration_ms?: number } }} Data */

/** @param {AsyncIterable<{ type: string, data: Data }>} events */
export default async function* fileTimes(events) {
  for await (const { type, data } of events) {
    const { file, name, nesting, duration_ms, details } = data;
    if (type === 'test:summary' && file !== undefined) yield `${Math.round(duration_ms ?? 0)}\t${file}\n`;
    // In a shared process a file is a suite with the file's path as its name.
    const isFile = nesting === 0 && name?.endsWith('.test.ts');
    if ((type === 'test:pass' || type === 'test:fail') && isFile)
      yield `${Math.round(details?.duration_ms ?? 0)}\t${name}\n`;
  }
}
