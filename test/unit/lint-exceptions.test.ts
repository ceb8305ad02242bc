import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';

const ROOT = join(import.meta.dirname, '../..');
const EXCEPTION = /\b(?:oxlint-disable|eslint-disable|biome-ignore)\b/;
/** oxlint reads the reason behind `--`, biome behind a colon. */
const WITH_REASON = /\b(?:(?:oxlint|eslint)-disable[-\w]* .* -- \S|biome-ignore [^\s:]+: \S)/;

const isUnexplained = (line: string): boolean => EXCEPTION.test(line) && !WITH_REASON.test(line);

test('every lint exception states its reason', () => {
  const files = globSync('{packages,scripts}/**/*.{ts,tsx,js}', { cwd: ROOT, exclude: ['**/node_modules', '**/dist'] });
  const unexplained = files.flatMap((file) =>
    readFileSync(join(ROOT, file), 'utf8')
      .split('\n')
      .flatMap((line, at) => (isUnexplained(line) ? [`${file}:${at + 1}`] : [])),
  );
  assert.ok(files.length > 500, `${files.length} files were read`);
  assert.deepEqual(unexplained, []);
});

describe('a lint exception', () => {
  const lines: [line: string, unexplained: boolean][] = [
    ['// oxlint-disable-next-line no-control-regex', true],
    ['// oxlint-disable no-control-regex --', true],
    ['// oxlint-disable-next-line no-control-regex -- the text has them', false],
    ['/* eslint-disable no-console */', true],
    ['// biome-ignore lint/suspicious/noExplicitAny', true],
    ['// biome-ignore lint/suspicious/noExplicitAny: the caller checks it', false],
    ['const lint = true; // -- no exception', false],
  ];
  for (const [line, unexplained] of lines) {
    test(`${line}: ${unexplained ? 'is unexplained' : 'is fine'}`, () => {
      assert.equal(isUnexplained(line), unexplained);
    });
  }
});
