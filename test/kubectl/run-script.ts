import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Output } from '../cluster/kubectl.ts';
import { normaliseOutput } from './normalise-output.ts';
import type { Command, Script } from './scripts.ts';

/** A server as a kubectl finds it. */
export interface Side {
  name: string;
  url: string;
  kubeconfig: string;
  /** Of its own: kubectl keeps what it discovered there. */
  home: string;
}

export type Version = '1.20' | '1.36';

const MANIFESTS = fileURLToPath(new URL('manifests', import.meta.url));
const COMMAND_TIMEOUT_MS = 30_000;

export function commandsOf({ commands }: Script, version: Version): Command[] {
  return commands
    .map((command) => (typeof command === 'string' ? { line: command } : command))
    .filter(({ only }) => only === undefined || only === version);
}

/** Whether the servers are known to answer this kubectl differently. */
export function differsFor({ differs }: Command, version: Version): boolean {
  return typeof differs === 'object' ? differs.kubectl === version : differs !== undefined;
}

/** A folder in which `kubectl` is the given one, for `PATH`. */
export async function folderWithKubectl(binary: string, folder: string): Promise<string> {
  await mkdir(folder, { recursive: true });
  await symlink(binary, join(folder, 'kubectl'));
  return folder;
}

/** Makes the script's namespace, current from then on. Resolves with a kubeconfig for it. */
export async function openNamespace(side: Side, bin: string, namespace: string): Promise<Side> {
  const made = await runShell(`kubectl create namespace ${namespace}`, side, bin, namespace);
  if (made.code !== 0) throw new Error(`no namespace ${namespace} at ${side.name}: ${made.stderr}`);
  const config = await runShell('kubectl config view --raw', side, bin, namespace);
  const kubeconfig = `${side.kubeconfig}.${namespace}`;
  await writeFile(kubeconfig, config.stdout, { mode: 0o600 });
  const here = { ...side, kubeconfig };
  await runShell(`kubectl config set-context --current --namespace=${namespace}`, here, bin, namespace);
  return here;
}

/** Runs one line as it would be typed, among the manifests. */
export async function runCommand({ line }: Command, side: Side, bin: string, namespace: string): Promise<Output> {
  const { code, stdout, stderr } = await runShell(line, side, bin, namespace);
  return { code, stdout: normaliseOutput(stdout, side.url), stderr: normaliseOutput(stderr, side.url) };
}

async function runShell(line: string, side: Side, bin: string, namespace: string): Promise<Output> {
  const child = spawn('sh', ['-c', line], {
    cwd: MANIFESTS,
    env: {
      PATH: `${bin}:${process.env['PATH']}`,
      HOME: side.home,
      KUBECONFIG: side.kubeconfig,
      KUBECTL_KUBERC: 'false',
      NS: namespace,
      TZ: 'UTC',
    },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  // The shell's children hold its output open: they go with it.
  const timer = setTimeout(() => process.kill(-child.pid!, 'SIGKILL'), COMMAND_TIMEOUT_MS);
  const output: Output = { code: null, stdout: '', stderr: '' };
  child.stdout.on('data', (text) => (output.stdout += String(text)));
  child.stderr.on('data', (text) => (output.stderr += String(text)));
  [output.code] = (await once(child, 'close')) as [number | null];
  clearTimeout(timer);
  return output;
}
