import { execFileSync } from 'node:child_process';
import { arch, availableParallelism, cpus, loadavg, platform, release, totalmem } from 'node:os';

/** Where and on what a bench ran. */
export interface Environment {
  date: string;
  node: string;
  cpu: string;
  cores: number;
  memoryGiB: number;
  system: string;
  /** Over one, five and fifteen minutes, before the bench began. */
  loadAverage: number[];
  /** Absent where the sources are no git checkout. `+` behind it: with changes that are not committed. */
  commit?: string;
}

export function readEnvironment(sources: string): Environment {
  const commit = commitOf(sources);
  return {
    date: new Date().toISOString(),
    node: process.version,
    cpu: cpus()[0]?.model.trim() ?? 'unknown',
    cores: availableParallelism(),
    memoryGiB: Math.round(totalmem() / 2 ** 30),
    system: `${platform()} ${release()} ${arch()}`,
    loadAverage: loadavg().map((value) => Math.round(value * 100) / 100),
    ...(commit === undefined ? {} : { commit }),
  };
}

function commitOf(cwd: string): string | undefined {
  const git = (...args: string[]): string =>
    execFileSync('git', args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
  try {
    const commit = git('rev-parse', '--short', 'HEAD');
    return git('status', '--porcelain') === '' ? commit : `${commit}+`;
  } catch {
    return undefined;
  }
}
