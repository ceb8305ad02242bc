import { type FileHandle, mkdir, open, rename } from 'node:fs/promises';
import { dirname } from 'node:path';
import { AuditError } from './audit-error.ts';
import type { AuditLogOptions } from './audit-options.ts';
import { freeBackupName, removeOldBackups } from './log-backups.ts';
import type { LineTarget } from './line-queue.ts';

const MEGABYTE = 1024 * 1024;
const DEFAULT_MAX_SIZE = 100;

/**
 * A file of lines that is renamed when it is full, as upstream's audit log is. Its lines are whole: what a failed write left of one
 * is cut off again, and the file is opened anew with the next write.
 */
export class RotatingFile implements LineTarget {
  readonly #path: string;
  readonly #maxBytes: number;
  readonly #keep: { maxAge: number; maxBackups: number };
  readonly #clock: () => number;
  #file: { handle: FileHandle; size: number } | undefined;

  /** Rejects with `AuditError` `AUDIT_LOG` where the file cannot be opened. */
  static async open(options: AuditLogOptions, clock: () => number): Promise<RotatingFile> {
    const file = new RotatingFile(options, clock);
    try {
      file.#file = await file.#open();
    } catch (error) {
      const { message } = error as Error;
      throw new AuditError('AUDIT_LOG', `the audit log cannot be opened: ${message}`, { cause: error });
    }
    return file;
  }

  private constructor({ path, maxSize = 0, maxAge = 0, maxBackups = 0 }: AuditLogOptions, clock: () => number) {
    this.#path = path;
    this.#maxBytes = (maxSize > 0 ? maxSize : DEFAULT_MAX_SIZE) * MEGABYTE;
    this.#keep = { maxAge, maxBackups };
    this.#clock = clock;
  }

  async write(lines: readonly string[], onWritten: (count: number) => void): Promise<void> {
    let next = 0;
    while (next < lines.length) {
      let file = (this.#file ??= await this.#open());
      const { bytes, count } = this.#piece(lines, next, file.size);
      if (file.size > 0 && file.size + bytes.byteLength > this.#maxBytes) {
        await this.#rotate(file.handle);
        continue;
      }
      await this.#append(file, bytes);
      next += count;
      onWritten(count);
    }
  }

  async close(): Promise<void> {
    const { handle } = this.#file ?? {};
    this.#file = undefined;
    await handle?.close();
  }

  async #open(): Promise<{ handle: FileHandle; size: number }> {
    await mkdir(dirname(this.#path), { recursive: true, mode: 0o700 });
    const handle = await open(this.#path, 'a', 0o600);
    const { size } = await handle.stat();
    return { handle, size };
  }

  /** As many lines as the file still has room for, at least one. */
  #piece(lines: readonly string[], from: number, size: number): { bytes: Buffer; count: number } {
    let text = '';
    let count = 0;
    let length = size;
    for (let at = from; at < lines.length; at++) {
      const line = `${lines[at]!}\n`;
      length += Buffer.byteLength(line);
      if (count > 0 && length > this.#maxBytes) break;
      text += line;
      count++;
    }
    return { bytes: Buffer.from(text), count };
  }

  async #append(file: { handle: FileHandle; size: number }, bytes: Buffer): Promise<void> {
    let written = 0;
    try {
      while (written < bytes.byteLength) {
        written += (await file.handle.write(bytes, written)).bytesWritten;
      }
      file.size += written;
    } catch (error) {
      this.#file = undefined;
      await this.#cutBack(file, written).catch(() => {});
      throw error;
    }
  }

  /** Unless somebody else has changed the file meanwhile. */
  async #cutBack({ handle, size }: { handle: FileHandle; size: number }, written: number): Promise<void> {
    try {
      const { size: now } = await handle.stat();
      if (written > 0 && now === size + written) await handle.truncate(size);
    } finally {
      await handle.close();
    }
  }

  async #rotate(handle: FileHandle): Promise<void> {
    this.#file = undefined;
    await handle.close();
    const now = this.#clock();
    await rename(this.#path, await freeBackupName(this.#path, now));
    this.#file = await this.#open();
    // What cannot be deleted now is tried again the next time.
    await removeOldBackups(this.#path, now, this.#keep).catch(() => {});
  }
}
