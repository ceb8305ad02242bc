import { emptySource, nullSink, type Sink, type Source } from './byte-stream.ts';
import { type DeviceNode, FileError, type FileSystem, type RegularNode } from './file-system.ts';
import type { Task } from './task.ts';

const CHUNK = 64 * 1024;

/** Opens a file or a device to read. */
export function openSource(task: Task, path: string): Source {
  const node = task.machine.files.get(path);
  if (node.kind === 'file') return fileSource(node);
  if (node.kind === 'device') return deviceSource(task, node);
  throw new FileError(path, 'Is a directory');
}

/** Opens a file or a device to write. */
export function openSink(task: Task, path: string, options: { append?: boolean; mode?: number } = {}): Sink {
  const { files } = task.machine;
  const node = files.openToWrite(path, options);
  return node.kind === 'file' ? fileSink(files, node) : deviceSink(task, node);
}

function fileSource(node: RegularNode): Source {
  let offset = 0;
  return {
    ...emptySource,
    take: () => {
      const chunk = node.bytes.subarray(offset, Math.min(node.size, offset + CHUNK));
      offset += chunk.length;
      return chunk.length > 0 ? chunk : undefined;
    },
    unread: (chunk) => {
      offset -= chunk.length;
    },
  };
}

function fileSink(files: FileSystem, node: RegularNode): Sink {
  return { ...nullSink, put: (chunk) => files.append(node, chunk) };
}

function deviceSource(task: Task, { device }: DeviceNode): Source {
  if (device === 'stdin' || device === 'tty') return task.streams.stdin;
  if (device !== 'zero' && device !== 'random') return emptySource;
  const chunk = (): Uint8Array<ArrayBuffer> => new Uint8Array(CHUNK);
  return { ...emptySource, take: () => (device === 'zero' ? chunk() : crypto.getRandomValues(chunk())) };
}

function deviceSink(task: Task, { device }: DeviceNode): Sink {
  if (device === 'stdout' || device === 'tty') return task.streams.stdout;
  return device === 'stderr' ? task.streams.stderr : nullSink;
}
