import type { Source } from './byte-stream.ts';
import { checkMemory, type Task } from './task.ts';

const NEWLINE = 10;

/** The next line with its newline, if it has one; undefined at the end. What comes after stays in the source. */
export async function readLine(task: Task, source: Source): Promise<Uint8Array | undefined> {
  const parts: Uint8Array[] = [];
  let size = 0;
  try {
    for (let chunk = await task.read(source); chunk; chunk = await task.read(source)) {
      const end = chunk.indexOf(NEWLINE);
      if (end < 0) {
        parts.push(chunk);
        checkMemory((size += chunk.length));
        continue;
      }
      if (end + 1 < chunk.length) source.unread(chunk.subarray(end + 1));
      parts.push(chunk.subarray(0, end + 1));
      return joined(parts);
    }
  } catch (error) {
    for (const part of parts.toReversed()) source.unread(part);
    throw error;
  }
  return parts.length > 0 ? joined(parts) : undefined;
}

/** The lines of a source, each with whether a newline ended it. */
export async function* readLines(task: Task, source: Source): AsyncGenerator<{ text: string; ended: boolean }> {
  let rest: Uint8Array[] = [];
  let held = 0;
  for (let chunk = await task.read(source); chunk; chunk = await task.read(source)) {
    let from = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, from)) {
      rest.push(chunk.subarray(from, end));
      yield { text: joined(rest).toString(), ended: true };
      rest = [];
      held = 0;
      from = end + 1;
    }
    if (from < chunk.length) rest.push(chunk.subarray(from));
    checkMemory((held += chunk.length - from));
  }
  if (rest.length > 0) yield { text: joined(rest).toString(), ended: false };
}

/** All of a source. */
export async function readAll(task: Task, source: Source): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  let size = 0;
  for (let chunk = await task.read(source); chunk; chunk = await task.read(source)) {
    checkMemory((size += chunk.length));
    parts.push(chunk);
  }
  return Buffer.concat(parts);
}

function joined(parts: readonly Uint8Array[]): Buffer {
  const [only] = parts;
  return only && parts.length === 1 ? Buffer.from(only.buffer, only.byteOffset, only.byteLength) : Buffer.concat(parts);
}
