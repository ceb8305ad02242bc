// `npm run generate` writes every generated file; with --check it writes nothing and fails where one is out of date.
import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { spawnSync } from 'node:child_process';
import { listExpressions } from './lint/search-time.js';

const packages = new URL('../packages/', import.meta.url);
let failed = false;
// The documents last: they are made of what the others write.
const generators = readdirSync(packages).map((name) => new URL(`${name}/generator/main.ts`, packages));
for (const generator of [...generators, new URL('generate-docs.js', import.meta.url)]) {
  if (!existsSync(generator)) continue;
  const { status } = spawnSync(
    process.execPath,
    ['--conditions=asterism-source', generator.pathname, ...process.argv.slice(2)],
    { stdio: 'inherit' },
  );
  if (status !== 0) failed = true;
}
if (!process.argv.includes('--check'))
  writeFileSync(new URL('lint/linear-expressions.txt', import.meta.url), listExpressions());
process.exit(failed ? 1 : 0);
