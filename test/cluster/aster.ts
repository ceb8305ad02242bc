import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { promisify } from 'node:util';
import { ASTER } from '../demo/aster-up.ts';
import { Daemon, type DaemonOptions } from './daemon.ts';

const run = promisify(execFile);

/** `aster …` to its end. Resolves with what it printed on stdout; rejects, with what it said, where it fails. */
export async function runAster(args: readonly string[], environment: Record<string, string> = {}): Promise<string> {
  const { stdout } = await run(process.execPath, [...ASTER, ...args], { env: { ...process.env, ...environment } });
  return stdout;
}

/** `aster …` as it runs, its streams in the test's hands. */
export function spawnAster(args: readonly string[]): ChildProcess {
  return spawn(process.execPath, [...ASTER, ...args], { stdio: ['pipe', 'pipe', 'pipe'] });
}

export interface AsterServiceOptions extends Omit<DaemonOptions, 'command'> {
  /** `hub …` or `agent …`. */
  args: readonly string[];
  /** Where it runs: a lab's `command`. */
  within?: ((command: readonly string[]) => readonly string[]) | undefined;
}

/** `aster hub` or `aster agent` as a process. Wait for what it prints. */
export function asterService({ args, within = (command) => command, ...options }: AsterServiceOptions): Daemon {
  return new Daemon({ ...options, command: () => within([process.execPath, ...ASTER, ...args]) });
}
