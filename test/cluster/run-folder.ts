import { readFileSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sweepCgroups } from './cgroups.ts';

/** `asterism-cluster-PID-STARTED-…`: names the test process that a folder or a cgroup belongs to. */
const OWNED = /^asterism-cluster-(\d+)-(\d+)-/;

/**
 * The folder of one test run, mode 0700: everything that the fixtures write lies in it, and what they leave elsewhere (cgroups)
 * bears its name. Processes end with the test process by themselves; what a run that was killed left is swept by the next one.
 */
export class RunFolder implements AsyncDisposable {
  readonly path: string;

  private constructor(path: string) {
    this.path = path;
  }

  /** Sweeps what killed runs left, and makes a new folder. */
  static async open(): Promise<RunFolder> {
    await sweepLeftovers();
    const owner = `asterism-cluster-${process.pid}-${startOf(process.pid)}-`;
    return new RunFolder(await mkdtemp(join(tmpdir(), owner)));
  }

  /** Unique on this machine. */
  get name(): string {
    return this.path.slice(this.path.lastIndexOf('/') + 1);
  }

  /** A folder of this name in it, made where it is missing. */
  async folder(...names: string[]): Promise<string> {
    const path = join(this.path, ...names);
    await mkdir(path, { recursive: true, mode: 0o700 });
    return path;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.path, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** Removes the folders and cgroups of runs whose process is gone. */
export async function sweepLeftovers(): Promise<void> {
  for (const name of await readdir(tmpdir())) {
    if (isLeftover(name)) await rm(join(tmpdir(), name), { recursive: true, force: true, maxRetries: 5 });
  }
  await sweepCgroups(isLeftover);
}

/** Whether the name is one of ours and its process no longer runs. */
export function isLeftover(name: string): boolean {
  const [, pid = '', started = ''] = OWNED.exec(name) ?? [];
  return pid !== '' && startOf(Number(pid)) !== started;
}

/** When a process began, in clock ticks since boot (`/proc/PID/stat`, field 22); a process id alone is used again. */
function startOf(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19];
  } catch {
    return undefined;
  }
}
