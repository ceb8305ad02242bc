import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

const MOUNT = '/sys/fs/cgroup';

/** One hierarchy of cgroup v1. */
export interface Hierarchy {
  /** As in the name of its mount: `memory`, `cpu,cpuacct`, `systemd`. */
  name: string;
  /** What `mount -t cgroup -o …` is given. */
  option: string;
  /** The group of this process in it. */
  path: string;
}

/** The hierarchies of cgroup v1 that are mounted here; none on a machine that has v2 alone. */
export function hierarchies(): Hierarchy[] {
  return readFileSync('/proc/self/cgroup', 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => /^\d+:([^:]*):(.*)$/.exec(line) ?? [])
    .filter(([, controllers = '']) => controllers !== '')
    .map(([, controllers = '', path = '']) => {
      const name = controllers.replace('name=', '');
      const option = controllers.startsWith('name=') ? `none,${controllers}` : controllers;
      return { name, option, path: join(MOUNT, name, path) };
    })
    .filter(({ path }) => existsSync(path));
}

/** A group of its own below the present one in every hierarchy: the root of a node's cgroup namespace. */
export class Cgroups implements AsyncDisposable {
  readonly paths: readonly string[];

  constructor(name: string) {
    this.paths = hierarchies().map((hierarchy) => {
      const path = join(hierarchy.path, name);
      mkdirSync(path, { recursive: true });
      if (hierarchy.name.split(',').includes('cpuset')) inheritCpuset(path);
      return path;
    });
  }

  /** The command, run in these groups. */
  command(command: readonly string[]): string[] {
    const join = 'while [ "$1" != -- ]; do echo $$ >"$1/cgroup.procs" || exit 1; shift; done; shift; exec "$@"';
    return ['sh', '-c', join, 'sh', ...this.paths, '--', ...command];
  }

  /** When every process in them is gone. */
  async [Symbol.asyncDispose](): Promise<void> {
    for (const path of this.paths) await removeGroup(path);
  }
}

/** Removes the groups below the present one whose name `isLeftover`. */
export async function sweepCgroups(isLeftover: (name: string) => boolean): Promise<void> {
  for (const { path } of hierarchies()) {
    for (const name of await readdir(path)) if (isLeftover(name)) await removeGroup(join(path, name));
  }
}

/** A new cpuset group has no processors and takes no process until it is given some. */
function inheritCpuset(path: string): void {
  for (const file of ['cpuset.cpus', 'cpuset.mems']) {
    writeFileSync(join(path, file), readFileSync(join(dirname(path), file), 'utf8'));
  }
}

/** Depth first; again until it is done, as killed processes leave a moment later. Gives up after 5 s. */
async function removeGroup(path: string): Promise<void> {
  for (const end = Date.now() + 5_000; ; await delay(50)) {
    try {
      return removeTree(path);
    } catch (error) {
      if (Date.now() > end) throw error;
    }
  }
}

function removeTree(path: string): void {
  if (!existsSync(path)) return;
  for (const entry of readdirSync(path, { withFileTypes: true })) {
    if (entry.isDirectory()) removeTree(join(path, entry.name));
  }
  rmdirSync(path);
}
