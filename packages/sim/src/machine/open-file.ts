import { emptySource, nullSink, type Sink, type Source } from './byte-stream.ts';
import { type DeviceNode, FileError, type FileSystem, type RegularNode } from './file-system.ts';
import type { Task } from './task.ts';

const CHUNK = 64 * 1024;

/** Opens a file to read, or what a device gives. */
export function openSource(task: Task, path: string): Source {
  const node = task.machine.files.get(path);
  if (node.kind === 'file') return fileSource(node);
  if (node.kind === 'device') return deviceSource(task, node);
  throw new FileError(path, 'Is a directory');
}

/** Opens a file to write, or what a device takes. */
export function openSink(task: Task, path: string, options: { append?: boolean; mode?: number } = {}): Sink {
  const { files } = task.machine;
  const node = files.openToWrite(path, options);
  return node.kind === 'file' ? fileSink(files, node) : deviceSink(task, node);
}

function fileSource(node: RegularNode): Source {
  let offset = 0;
  return {
    ready: () => undefined,
    take: () => {
      const chunk = node.content.read(offset, CHUNK);
      offset += chunk.length;
      return chunk.length > 0 ? chunk : undefined;
    },
    unread: (chunk) => {
      offset -= chunk.length;
    },
    close: () => undefined,
  };
}

function fileSink(files: FileSystem, node: RegularNode): Sink {
  return { room: () => undefined, put: (chunk) => files.append(node, chunk), end: () => undefined };
}

function deviceSource(task: Task, { device }: DeviceNode): Source {
  if (device === 'stdin' || device === 'tty') return task.streams.stdin;
  if (device !== 'zero' && device !== 'random') return emptySource;
  const fill =
    device === 'zero' ? (): Uint8Array => new Uint8Array(CHUNK) : () => crypto.getRandomValues(new Uint8Array(CHUNK));
  return { ...emptySource, take: fill };
}

function deviceSink(task: Task, { device }: DeviceNode): Sink {
  if (device === 'stdout' || device === 'tty') return task.streams.stdout;
  return device === 'stderr' ? task.streams.stderr : nullSink;
}
