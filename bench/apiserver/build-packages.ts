import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

const BUILD = fileURLToPath(new URL('../../scripts/build.js', import.meta.url));

/** Compiles the packages as they are published (`npm run build`). Rejects with what the compiler says where it cannot. */
export async function buildPackages(signal: AbortSignal): Promise<void> {
  const child = spawn(process.execPath, [BUILD], { stdio: ['ignore', 'pipe', 'pipe'], signal });
  let output = '';
  const gather = (piece: Buffer): void => void (output += piece.toString());
  child.stdout.on('data', gather);
  child.stderr.on('data', gather);
  const [code] = (await once(child, 'close')) as [number | null];
  if (code !== 0) throw new Error(`the packages do not compile: ${output.slice(0, 500)}`);
}
