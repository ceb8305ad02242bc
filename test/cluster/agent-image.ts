import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { copyFile, cp, mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { startRegistry } from '../packages/local-registry.ts';
import { packPackages } from '../packages/packed-packages.ts';
import { UserProject } from '../packages/user-project.ts';

const run = promisify(execFile);

const repository = fileURLToPath(new URL('../..', import.meta.url));
const DOCKERFILE = join(repository, 'deploy/agent/Dockerfile');

export const AGENT_IMAGE = 'docker.io/local/asterism-agent:1';

/**
 * The agent's image as `deploy/agent/Dockerfile` says, made by hand: the packages as they are packed, installed as it installs them,
 * beside this Node and the libraries that it needs, and nothing else: no shell. What it runs, and as whom, is read from the file.
 *
 * @returns a tar as `docker save` makes it
 */
export async function buildAgentImage(folder: string): Promise<string> {
  const root = join(folder, 'root');
  const tarballs = await packPackages(repository, join(folder, 'packed'));
  await using registry = await startRegistry({ tarballs, repository, dir: join(folder, 'third-party') });
  const project = await UserProject.create(join(folder, 'installed'), registry.url);
  await project.install('@asterism/cli');
  const config = await readDockerfile();
  await cp(join(project.dir, 'node_modules'), join(root, 'opt/asterism/node_modules'), { recursive: true });
  for (const file of [process.execPath, ...(await librariesOf(process.execPath))]) {
    const to = join(root, file === process.execPath ? '/usr/local/bin/node' : file);
    await mkdir(dirname(to), { recursive: true });
    await copyFile(file, to);
  }
  // Where its Secret and its scratch space are mounted: the root file system is not written to.
  for (const mount of ['tmp', 'var/run/asterism', 'proc', 'sys', 'dev', 'etc']) {
    await mkdir(join(root, mount), { recursive: true });
  }
  const layer = join(folder, 'layer.tar');
  await run('tar', ['--owner=0', '--group=0', '-C', root, '-cf', layer, '.']);
  const digest = createHash('sha256');
  await pipeline(createReadStream(layer), digest);
  await writeFile(
    join(folder, 'config.json'),
    JSON.stringify({
      architecture: process.arch === 'x64' ? 'amd64' : process.arch,
      os: 'linux',
      config,
      rootfs: { type: 'layers', diff_ids: [`sha256:${digest.digest('hex')}`] },
      history: [],
    }),
  );
  const manifest = [{ Config: 'config.json', RepoTags: [AGENT_IMAGE], Layers: ['layer.tar'] }];
  await writeFile(join(folder, 'manifest.json'), JSON.stringify(manifest));
  const image = join(folder, 'image.tar');
  await run('tar', ['-C', folder, '-cf', image, 'manifest.json', 'config.json', 'layer.tar']);
  return image;
}

/** Of the last stage. */
async function readDockerfile(): Promise<object> {
  const lines = (await readFile(DOCKERFILE, 'utf8')).split('\n');
  const stage = lines.slice(lines.findLastIndex((line) => line.startsWith('FROM ')));
  const said = (instruction: string): string => {
    const line = stage.find((each) => each.startsWith(`${instruction} `));
    if (line === undefined) throw new Error(`the Dockerfile has no ${instruction}`);
    return line.slice(instruction.length + 1);
  };
  return {
    User: said('USER'),
    Env: said('ENV').split(' '),
    Entrypoint: JSON.parse(said('ENTRYPOINT')) as string[],
    Cmd: JSON.parse(said('CMD')) as string[],
  };
}

/** What the dynamic linker loads for a program, itself included. */
async function librariesOf(program: string): Promise<string[]> {
  const { stdout } = await run('ldd', [program]);
  return [...stdout.matchAll(/(\/\S+) \(0x/g)].map((match) => match[1] ?? '');
}
