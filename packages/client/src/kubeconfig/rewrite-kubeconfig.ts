import { randomUUID } from 'node:crypto';
import { mkdir, open, readFile, readlink, rename, rm } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { ClientError } from '../client-error.ts';

/**
 * Replaces a kubeconfig by what `change` makes of its text ('' where there is none), mode 0600. Others see the old file or the new
 * one, never half of it, and never none; a symbolic link goes on leading where it leads. It is locked against kubectl and others
 * meanwhile (`FILE.lock`, as client-go has it): rejects with `ERR_KUBECONFIG_LOCKED` where they have.
 */
export async function rewriteKubeconfig(
  path: string,
  change: (text: string) => string | Promise<string>,
): Promise<void> {
  const file = await followLinks(path);
  await mkdir(dirname(file), { recursive: true });
  const lock = `${file}.lock`;
  await takeLock(lock, path);
  const fresh = `${file}.${randomUUID()}.new`;
  try {
    const text = await change(await readOrEmpty(file));
    const handle = await open(fresh, 'wx', 0o600);
    try {
      await handle.writeFile(text);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(fresh, file);
  } finally {
    await rm(fresh, { force: true });
    await rm(lock, { force: true });
  }
}

async function takeLock(lock: string, path: string): Promise<void> {
  try {
    await (await open(lock, 'wx', 0o600)).close();
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'EEXIST') throw cause;
    const message = `${path} is being changed by somebody else: try again, or remove ${lock} if nobody is`;
    throw new ClientError(message, { code: 'ERR_KUBECONFIG_LOCKED', cause });
  }
}

async function readOrEmpty(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return '';
    throw error;
  }
}

const MAX_LINKS = 40;

/** Where a path leads, also where nothing is there yet. */
async function followLinks(path: string): Promise<string> {
  let file = resolve(path);
  for (let count = 0; count < MAX_LINKS; count++) {
    try {
      file = resolve(dirname(file), await readlink(file));
    } catch {
      return file;
    }
  }
  throw new ClientError(`${path} leads round in a circle of links`, { code: 'ELOOP' });
}
