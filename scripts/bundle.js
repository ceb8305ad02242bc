import { globSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { buildSync } from 'esbuild';

/**
 * Puts the compiled modules of one package into few files, `dist/bundle`, if its `exports` point there: a module costs about 80 KB of
 * memory and 0.4 ms of a start, and an API server has three hundred. What is imported when it is needed keeps files of its own. One
 * folder below `dist`, so that paths to the package's data hold.
 *
 * @param {string} folder of the package
 */
export function bundle(folder) {
  const { exports } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const targets = Object.values(exports ?? {}).map((target) => target.default ?? '');
  const entries = targets.filter((target) => target.startsWith('./dist/bundle/'));
  const outdir = join(folder, 'dist/bundle');
  rmSync(outdir, { recursive: true, force: true });
  if (entries.length === 0) return;
  buildSync({
    entryPoints: entries.map((entry) => join(folder, entry.replace('/bundle/', '/'))),
    outbase: join(folder, 'dist'),
    outdir,
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node24',
    packages: 'external',
    // The `imports` of a manifest: the user's platform decides what they are.
    external: ['#*'],
    sourcemap: true,
    logLevel: 'warning',
  });
  for (const file of globSync('**/*.js', { cwd: outdir })) checkLatin1(join(outdir, file));
}

/**
 * One character outside Latin-1 (esbuild escapes those of strings, not those of regular expressions), and V8 keeps the whole file in
 * two bytes a character: a megabyte more in an API server.
 *
 * @param {string} file
 */
function checkLatin1(file) {
  const [, character] = /([\u{100}-\u{10ffff}])/u.exec(readFileSync(file, 'utf8')) ?? [];
  if (character !== undefined) throw new Error(`${file} has "${character}": write it as an escape (\\u…)`);
}
