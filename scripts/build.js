// `npm run build`: compiles the packages into their `dist`. With a folder (`prepack` gives its own): that package and those below it.
import { copyFileSync, existsSync, globSync, readFileSync, rmSync } from 'node:fs';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundle } from './bundle.js';

const root = fileURLToPath(new URL('..', import.meta.url));
const [folder = root] = process.argv.slice(2);
const { status } = spawnSync('tsc', ['-b', join(folder, 'tsconfig.build.json')], { stdio: 'inherit' });
if (status !== 0) process.exit(status ?? 1);

for (const name of globSync('packages/*', { cwd: root })) {
  const dist = join(root, name, 'dist');
  if (!existsSync(join(dist, '.tsbuildinfo'))) continue;
  removeStale(dist);
  bundle(join(root, name));
  // npm packs no licence from above a package's own folder.
  copyFileSync(join(root, 'LICENSE'), join(root, name, 'LICENSE'));
}

/**
 * `tsc -b` leaves what it once made of a source that is gone, and npm would pack it.
 *
 * @param {string} dist
 */
function removeStale(dist) {
  const { fileNames } = JSON.parse(readFileSync(join(dist, '.tsbuildinfo'), 'utf8'));
  const made = new Set(fileNames.map((/** @type {string} */ name) => name.replace(/\.(ts|json)$/, '')));
  for (const file of globSync('**/*.{js,js.map,d.ts,json}', { cwd: dist, exclude: ['bundle/**'] })) {
    if (!made.has(`../src/${file.replace(/\.(js|js\.map|d\.ts|json)$/, '')}`)) rmSync(join(dist, file));
  }
}
