import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { unifiedDiff } from './unified-diff.ts';

const sides = (before: readonly string[] | undefined, after: readonly string[] | undefined) =>
  unifiedDiff({ name: 'a', lines: before }, { name: 'b', lines: after });

/** What a diff makes of the lines that it is of. */
function patched(before: readonly string[], diff: string): string[] {
  const result: string[] = [];
  let at = 0;
  for (const line of diff.split('\n').slice(2, -1)) {
    const hunk = /^@@ -(\d+)(?:,(\d+))? \+/.exec(line);
    if (hunk) {
      const start = Number(hunk[1]) - (hunk[2] === '0' ? 0 : 1);
      result.push(...before.slice(at, start));
      at = start;
    } else if (line.startsWith('+')) result.push(line.slice(1));
    else {
      assert.equal(before[at], line.slice(1));
      at += 1;
      if (line.startsWith(' ')) result.push(line.slice(1));
    }
  }
  return [...result, ...before.slice(at)];
}

describe('unifiedDiff', () => {
  const numbers = Array.from({ length: 20 }, (_, index) => String(index + 1));

  test('shows what changes with three lines around it, apart where it is far apart', () => {
    const changed = numbers.map((line) => (line === '3' || line === '18' ? `${line}!` : line));
    assert.equal(
      sides(numbers, changed),
      `--- a
+++ b
@@ -1,6 +1,6 @@
 1
 2
-3
+3!
 4
 5
 6
@@ -15,6 +15,6 @@
 15
 16
 17
-18
+18!
 19
 20
`,
    );
  });

  test('is empty of what is the same', () => assert.equal(sides(numbers, [...numbers]), ''));

  test('nothing is /dev/null', () => {
    assert.equal(sides(undefined, ['x', 'y']), '--- /dev/null\n+++ b\n@@ -0,0 +1,2 @@\n+x\n+y\n');
    assert.equal(sides(['x'], undefined), '--- a\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n');
  });

  const lines = fc.array(fc.constantFrom('a', 'b', 'c', 'd'), { maxLength: 30 });

  test('applied to what was it gives what is', () => {
    fc.assert(fc.property(lines, lines, (a, b) => assert.deepEqual(patched(a, sides(a, b)), b)));
  });

  test('changes no more lines than diff does', async (context) => {
    if (spawnSync('diff', ['--version']).status !== 0) return context.skip('there is no diff here');
    const folder = await mkdtemp(join(tmpdir(), 'aster-diff-'));
    try {
      const count = (text: string) => text.split('\n').filter((line) => /^[-+](?![-+]{2} )/.test(line)).length;
      const property = fc.asyncProperty(lines, lines, async (a, b) => {
        await writeFile(join(folder, 'a'), a.map((line) => `${line}\n`).join(''));
        await writeFile(join(folder, 'b'), b.map((line) => `${line}\n`).join(''));
        const theirs = spawnSync('diff', ['-d', '-u', 'a', 'b'], { cwd: folder, encoding: 'utf8' }).stdout;
        assert.equal(count(sides(a, b)), count(theirs));
      });
      await fc.assert(property, { numRuns: 40 });
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  test('of much that differs it tells the whole, at once', () => {
    const many = (prefix: string) => Array.from({ length: 20_000 }, (_, index) => `${prefix}${index}`);
    const started = performance.now();
    const diff = sides(many('a'), many('b'));
    assert.equal(diff.split('\n').length, 40_000 + 4);
    assert.ok(performance.now() - started < 10_000);
  });
});
