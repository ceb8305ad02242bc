import { buffer } from 'node:stream/consumers';
import type { LogOptions } from '../../machine/container-runtime.ts';
import type { ContainerLife } from './container-life.ts';
import { terminationPath } from './make-container.ts';

const MAX_BYTES = 4096;
const MAX_LOG_BYTES = 2048;
const MAX_LOG_LINES = 80;

/** The termination message of a container: what it wrote to its file, or, where it asks for that and has failed, the end of its log. */
export function readLastWords(
  { made, spec }: ContainerLife,
  failed: boolean,
  readLog: (options: LogOptions) => AsyncIterable<Uint8Array>,
): string | undefined | Promise<string | undefined> {
  const file = made?.shared?.get(terminationPath(spec));
  const written =
    file?.kind === 'file' ? Buffer.from(file.bytes.subarray(0, Math.min(file.size, MAX_BYTES))).toString() : '';
  if (written !== '') return written;
  if (!failed || spec.terminationMessagePolicy !== 'FallbackToLogsOnError') return undefined;
  return endOfLog(readLog({ follow: false, previous: false, timestamps: false, tailLines: MAX_LOG_LINES }));
}

async function endOfLog(log: AsyncIterable<Uint8Array>): Promise<string> {
  const all = await buffer(log as AsyncIterable<NodeJS.ArrayBufferView>).catch(() => Buffer.alloc(0));
  return all.subarray(Math.max(0, all.length - MAX_LOG_BYTES)).toString();
}
