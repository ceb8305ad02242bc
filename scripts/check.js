// `npm run check`: types, lint, format, generated files up to date. Runs all of them and says which failed.
import { spawnSync } from 'node:child_process';

/** @type {[name: string, command: string, args: string[]][]} */
const steps = [
  ['types', 'tsc', ['-p', 'tsconfig.json']],
  ['lint', 'oxlint', ['--type-aware', '--deny-warnings']],
  ['format', 'biome', ['format', '--error-on-warnings', '.']],
  ['generated files', 'node', ['scripts/generate.js', '--check']],
];

/** @type {string[]} */
const failed = [];
for (const [name, command, args] of steps) {
  const started = Date.now();
  const { status } = spawnSync(command, args, { stdio: 'inherit' });
  console.error(`check: ${name} ${status === 0 ? 'ok' : 'FAILED'} (${Date.now() - started} ms)`);
  if (status !== 0) failed.push(name);
}
if (failed.length > 0) {
  console.error(`check: failed: ${failed.join(', ')}`);
  process.exit(1);
}
