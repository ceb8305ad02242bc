import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, readFile } from 'node:fs/promises';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

interface Manifest {
  name: string;
  version: string;
}

/** One version of a package. */
interface Published {
  manifest: Manifest;
  /** Path of the tarball, made when first asked for. */
  tarball(): Promise<string>;
}

export interface RegistryOptions {
  /** Our packages, as they were packed. */
  tarballs: readonly string[];
  /** Where every other package is, as its lock file says. */
  repository: string;
  /** A folder of the registry's own. */
  dir: string;
}

export interface LocalRegistry extends AsyncDisposable {
  /** `http://127.0.0.1:PORT/` */
  readonly url: string;
  /** What was asked for and is not here: a dependency that the repository does not have. */
  readonly missing: readonly string[];
}

/**
 * The part of npm's registry that `npm install` reads: our packages as they were packed, every other one in the versions that
 * the repository has installed. So an installation brings what the manifests name and no more, and asks nobody else.
 */
export async function startRegistry(options: RegistryOptions): Promise<LocalRegistry> {
  const published = new Map<string, Map<string, Published>>();
  for (const one of [...(await ours(options.tarballs)), ...(await installed(options.repository, options.dir))]) {
    const { name, version } = one.manifest;
    published.set(name, (published.get(name) ?? new Map<string, Published>()).set(version, one));
  }
  const missing: string[] = [];

  const describe = (name: string, versions: ReadonlyMap<string, Published>) => ({
    name,
    'dist-tags': { latest: [...versions.keys()][0] },
    versions: Object.fromEntries(
      [...versions].map(([version, { manifest }]) => {
        const tarball = `${url}-/${encodeURIComponent(`${name}@${version}`)}`;
        return [version, { ...manifest, dist: { tarball } }];
      }),
    ),
  });

  const answer = async (path: string, response: ServerResponse): Promise<void> => {
    const [, isTarball, name = '', version = ''] = /^\/(-\/)?(@?[^@]+)(?:@(.+))?$/.exec(decodeURIComponent(path)) ?? [];
    const versions = published.get(name);
    const tarball = await versions?.get(version)?.tarball();
    if (tarball !== undefined) response.end(await readFile(tarball));
    else if (versions !== undefined && !isTarball) response.end(JSON.stringify(describe(name, versions)));
    else {
      missing.push(path);
      response.writeHead(404).end();
    }
  };

  const server = createServer((request, response) => {
    answer(request.url ?? '/', response).catch((error: Error) => response.destroy(error));
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  return {
    url,
    missing,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => {
        server.close(resolve);
      });
    },
  };
}

async function ours(tarballs: readonly string[]): Promise<Published[]> {
  return await Promise.all(
    tarballs.map(async (path) => {
      const { stdout } = await run('tar', ['-xzOf', path, 'package/package.json']);
      return { manifest: JSON.parse(stdout) as Manifest, tarball: () => Promise.resolve(path) };
    }),
  );
}

async function installed(repository: string, dir: string): Promise<Published[]> {
  const lock = JSON.parse(await readFile(join(repository, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, { link?: boolean }>;
  };
  const folders = Object.entries(lock.packages)
    .filter(([path, { link }]) => path.startsWith('node_modules/') && !link)
    .map(([path]) => join(repository, path))
    .filter((folder) => existsSync(folder));
  return await Promise.all(
    folders.map(async (folder) => {
      const manifest = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8')) as Manifest;
      const path = join(dir, `${manifest.name}@${manifest.version}.tgz`);
      return { manifest, tarball: () => packFolder(folder, path) };
    }),
  );
}

/** As `npm pack` would, in a tenth of the time: npm takes the first folder of a tarball off, whatever its name. */
async function packFolder(folder: string, tarball: string): Promise<string> {
  await mkdir(dirname(tarball), { recursive: true });
  await run('tar', ['-czf', tarball, '--exclude', 'node_modules', '-C', dirname(folder), basename(folder)]);
  return tarball;
}
