import type { Source } from './byte-stream.ts';
import { checkMemory, type Task } from './task.ts';

const NEWLINE = 10;

/** The next line with its newline, if it has one; undefined at the end. The bytes after the line stay in the source. */
export async function readLine(task: Task, source: Source): Promise<Buffer | undefined> {
  const parts: Uint8Array[] = [];
  let size = 0;
  try {
    for (let chunk = await task.read(source); chunk; chunk = await task.read(source)) {
      const end = chunk.indexOf(NEWLINE) + 1;
      if (end > 0 && end < chunk.length) source.unread(chunk.subarray(end));
      parts.push(end > 0 ? chunk.subarray(0, end) : chunk);
      checkMemory((size += chunk.length));
      if (end > 0) break;
    }
  } catch (error) {
    for (const part of parts.toReversed()) source.unread(part);
    throw error;
  }
  return parts.length > 0 ? Buffer.concat(parts) : undefined;
}

/** The lines of a source, without their newlines. */
export async function* readLines(task: Task, source: Source): AsyncGenerator<string> {
  for (let line = await readLine(task, source); line; line = await readLine(task, source)) {
    yield line.toString().replace(/\n$/, '');
  }
}

export async function readAll(task: Task, source: Source): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  let size = 0;
  for (let chunk = await task.read(source); chunk; chunk = await task.read(source)) {
    checkMemory((size += chunk.length));
    parts.push(chunk);
  }
  return Buffer.concat(parts);
}
