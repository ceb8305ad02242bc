/*
 * `npm run vectors -- FILE`: replays decisions of Karmada's scheduler, one JSON object a line, and prints each that comes out
 * otherwise; the last line is `matched N of M`. Exit code 0 where nothing differs but what upstream itself leaves open, else 1;
 * 2 where there is no file to read.
 */
import { createReadStream } from 'node:fs';
import { resolve } from 'node:path';
import { createInterface } from 'node:readline/promises';
import { compareWithKarmada, readVector } from '../packages/fleet/src/place/testing/karmada-vector.ts';

const [file, ...more] = process.argv.slice(2);
if (file === undefined || more.length > 0) {
  process.stderr.write('usage: npm run vectors -- FILE\n');
  process.exit(2);
}

let line = 0;
let matched = 0;
let total = 0;
let wrong = 0;

try {
  // npm runs this in the repository's root; the path is one of where npm was called.
  const path = resolve(process.env['INIT_CWD'] ?? '.', file);
  for await (const text of createInterface({ input: createReadStream(path), crlfDelay: Infinity })) {
    line += 1;
    if (text.trim() !== '') replay(text);
  }
} catch (error) {
  process.stderr.write(`vectors: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(2);
}
process.stdout.write(`matched ${matched} of ${total}\n`);
process.exitCode = wrong === 0 ? 0 : 1;

function replay(text: string): void {
  total += 1;
  try {
    const { same, wanted, got, undetermined } = compareWithKarmada(readVector(text));
    if (same) {
      matched += 1;
      return;
    }
    if (undetermined === undefined) wrong += 1;
    const note = undetermined === undefined ? '' : ` (may differ: ${undetermined})`;
    process.stdout.write(`line ${line}${note}\n  wanted ${wanted}\n  got    ${got}\n`);
  } catch (error) {
    wrong += 1;
    process.stdout.write(
      `line ${line} cannot be replayed: ${error instanceof Error ? error.message : String(error)}\n`,
    );
  }
}
