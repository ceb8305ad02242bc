import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { parseJson } from '@asterism/machinery';
import { HubError } from './hub-error.ts';

/** What a backup's `manifest.json` says: what is in it, and that this is all of it. */
export interface BackupManifest {
  /** Of this file and the folder around it. */
  format: 1;
  /** When it was made, ISO 8601. */
  time: string;
  files: readonly BackupFile[];
}

export interface BackupFile {
  /** Path in the data directory, and in the backup. */
  name: string;
  bytes: number;
  /** Hexadecimal. */
  sha256: string;
}

export const MANIFEST = 'manifest.json';
/** What a backup may hold; nothing else is put back. */
const NAMES = /^(hub\.db|templates\.db|pki\/[\w-]+\.(crt|key))$/;
const FORMAT = 1;

/** Reads the manifest of the backup in `from`, and each of its files against it. Rejects with `HubError` `BackupUnusable`. */
export async function readBackup(from: string): Promise<BackupManifest> {
  const manifest = await readManifest(from);
  for (const { name, bytes, sha256 } of manifest.files) {
    const found = await describeFile(from, name).catch((cause: Error) => {
      throw unusable(`the backup ${from} is not whole: ${cause.message}`, cause);
    });
    if (found.bytes !== bytes || found.sha256 !== sha256) {
      throw unusable(`the backup ${from} is damaged: ${name} is not what was backed up. Take another one`);
    }
  }
  return manifest;
}

/** What a manifest says of the file `name` in `folder`. */
export async function describeFile(folder: string, name: string): Promise<BackupFile> {
  const hash = createHash('sha256');
  for await (const piece of createReadStream(join(folder, name))) hash.update(piece as Buffer);
  const { size } = await stat(join(folder, name));
  return { name, bytes: size, sha256: hash.digest('hex') };
}

async function readManifest(from: string): Promise<BackupManifest> {
  const file = join(from, MANIFEST);
  let found: unknown;
  try {
    found = parseJson(await readFile(file, 'utf8'));
  } catch (error) {
    const cause = error as NodeJS.ErrnoException;
    if (cause.code === 'ENOENT' || cause.code === 'ENOTDIR') {
      throw unusable(`${from} is no backup: it has no ${MANIFEST}. Name the folder that aster backup wrote`, cause);
    }
    throw unusable(`${file} cannot be read: ${cause.message}`, cause);
  }
  const { format, files } = (found ?? {}) as Partial<BackupManifest>;
  if (format !== FORMAT) {
    throw unusable(
      `the backup ${from} has format ${String(format)}, this release knows ${FORMAT}: use the one that made it`,
    );
  }
  if (!Array.isArray(files) || !files.every(isBackupFile)) throw unusable(`${file} is damaged: take another backup`);
  return found as BackupManifest;
}

function isBackupFile(value: unknown): value is BackupFile {
  const { name, bytes, sha256 } = (value ?? {}) as Partial<BackupFile>;
  return typeof name === 'string' && NAMES.test(name) && typeof bytes === 'number' && typeof sha256 === 'string';
}

function unusable(message: string, cause?: Error): HubError {
  return new HubError('BackupUnusable', message, cause);
}
