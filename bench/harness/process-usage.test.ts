import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { test } from 'node:test';
import { parseProcessStat, type ProcessStat, readOwnUsage, readProcessUsage, sumTree } from './process-usage.ts';

const skip = existsSync('/proc/self/stat') ? false : 'no /proc: CPU of other processes is measured on Linux only';

const LINE =
  '4242 (a (b) c) S 17 4242 4242 0 -1 4194560 100 200 0 0 123 45 6 7 20 0 11 0 900 1000000 2560 18446744073709551615';

test('parseProcessStat: also where the name has blanks and brackets', () => {
  assert.deepEqual(parseProcessStat(LINE), { parent: 17, cpuMs: 1680, childrenCpuMs: 130, rssPages: 2560 });
});

test('parseProcessStat: refuses another text', () => {
  assert.throws(() => parseProcessStat('4242 (a) S x'), /field 4 /);
});

test('sumTree: the process, its children at any depth, and those that ended; nobody else', () => {
  const stat = (parent: number, cpuMs: number, childrenCpuMs = 0): ProcessStat => ({
    parent,
    cpuMs,
    childrenCpuMs,
    rssPages: 1,
  });
  const stats = new Map([
    [1, stat(0, 1000)],
    [2, stat(1, 100, 5)],
    [3, stat(2, 10)],
    [4, stat(3, 1)],
    [5, stat(1, 500)],
  ]);
  assert.deepEqual(sumTree(2, stats), { cpuMs: 116, rssBytes: 3 * 4096 });
});

test('readProcessUsage: bills what a child does to its parent, readOwnUsage does not', { skip }, async () => {
  const before = readProcessUsage(process.pid).cpuMs;
  const own = readOwnUsage(process.pid);
  assert.ok(own.rssBytes > 10_000_000);
  const busy =
    'const until = Date.now() + 150; while (Date.now() < until); process.stdout.write("done"); setInterval(() => {}, 1e6)';
  const child = spawn(process.execPath, ['-e', busy], { stdio: ['ignore', 'pipe', 'ignore'] });
  await once(child.stdout, 'data');
  const alive = readProcessUsage(process.pid).cpuMs;
  assert.ok(alive > before + 20, `a child that lives: ${before} → ${alive}`);
  const exited = once(child, 'exit');
  child.kill('SIGKILL');
  await exited;
  assert.ok(readProcessUsage(process.pid).cpuMs >= alive, 'a child that ended counts on');
});

test('readProcessUsage: says which process has ended', { skip }, () => {
  assert.throws(() => readProcessUsage(2 ** 30), /process 1073741824 has ended/);
});
