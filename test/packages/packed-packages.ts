import { execFile } from 'node:child_process';
import { mkdir, readdir } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Packs every package of the repository as for publishing (which builds them) into `dir`. Returns the tarballs' paths. */
export async function packPackages(repository: string, dir: string): Promise<string[]> {
  await mkdir(dir, { recursive: true });
  // What this very run of npm has set for its scripts is no business of another.
  const environment = Object.entries(process.env).filter(([name]) => !name.toLowerCase().startsWith('npm_'));
  await run('npm', ['pack', '--workspaces', '--pack-destination', dir], {
    cwd: repository,
    env: {
      ...Object.fromEntries(environment),
      PATH: [join(repository, 'node_modules/.bin'), process.env.PATH].join(delimiter),
    },
    maxBuffer: 64 * 1024 * 1024,
  });
  return (await readdir(dir)).sort().map((name) => join(dir, name));
}

/** Takes a tarball apart into `dir` (made where it is missing); returns its folder `package`. */
export async function unpack(tarball: string, dir: string): Promise<string> {
  await mkdir(dir, { recursive: true });
  await run('tar', ['-xzf', tarball, '-C', dir]);
  return join(dir, 'package');
}
