import { createSqliteStore } from '../sqlite/create-sqlite-store.ts';
import { ROWS, SOURCES, writtenRow } from './written-row.ts';

/**
 * Writes to the file until it is killed: rounds of changes to the one source, in which each row and the watermark get the number
 * of the round; and a list to the other, in which the page's `continue` is the number of rows so far. Prints a line for each
 * round that is done.
 */
const [file = '', from = '0'] = process.argv.slice(2);
const store = await createSqliteStore({ file });
for (let round = Number(from) + 1; ; round++) {
  const upserts = Array.from({ length: ROWS }, (_, n) => writtenRow(n, round));
  await store.applyChanges(SOURCES.changed, { upserts, watermark: String(round) });
  const replacement = await store.beginReplace(SOURCES.listed);
  for (let page = 0; page < 3; page++) {
    const rows = Array.from({ length: 10 }, (_, n) => writtenRow(page * 10 + n, round));
    await replacement.add(rows, { continue: String((page + 1) * 10), resourceVersion: String(round) });
  }
  await replacement.finish(String(round));
  process.stdout.write(`${round}\n`);
}
