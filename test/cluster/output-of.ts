import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';

export interface Output {
  code: number | null;
  stdout: string;
  stderr: string;
}

/** All that a program says when it is told `stdin`, to its end, whatever that is. */
export async function outputOf(child: ChildProcess, stdin: string | Uint8Array = ''): Promise<Output> {
  const output: Output = { code: null, stdout: '', stderr: '' };
  child.stdout?.on('data', (text) => (output.stdout += String(text)));
  child.stderr?.on('data', (text) => (output.stderr += String(text)));
  // One that has ended reads no more.
  child.stdin?.on('error', () => {}).end(stdin);
  const [code] = (await once(child, 'close')) as [number | null];
  return { ...output, code };
}
