import { readdir, rm, stat } from 'node:fs/promises';
import { basename, dirname, extname, join } from 'node:path';

const DAY_MS = 86_400_000;
/** In the names of renamed files, UTC, as upstream's have it. */
const TIME = /^(\d{4}-\d{2}-\d{2})T(\d{2})-(\d{2})-(\d{2}\.\d{3})$/;

/** `audit-2026-01-02T03-04-05.678.log` beside `audit.log`, for a time that no file there has yet. */
export async function freeBackupName(path: string, now: number): Promise<string> {
  for (let time = now; ; time++) {
    const name = backupName(path, time);
    if (!(await stat(name).catch(() => undefined))) return name;
  }
}

/** Deletes renamed files of `path` that are too many or too old (days); 0 is no limit. */
export async function removeOldBackups(
  path: string,
  now: number,
  { maxAge, maxBackups }: { maxAge: number; maxBackups: number },
): Promise<void> {
  if (maxAge <= 0 && maxBackups <= 0) return;
  const { prefix, extension } = partsOf(path);
  const folder = dirname(path);
  const backups = (await readdir(folder))
    .flatMap((name) => {
      if (!name.startsWith(prefix) || !name.endsWith(extension)) return [];
      const time = readTime(name.slice(prefix.length, name.length - extension.length));
      return time === undefined ? [] : [{ name, time }];
    })
    .sort((a, b) => b.time - a.time);
  const old = backups.filter(
    ({ time }, index) => (maxBackups > 0 && index >= maxBackups) || (maxAge > 0 && time < now - maxAge * DAY_MS),
  );
  await Promise.all(old.map(({ name }) => rm(join(folder, name), { force: true })));
}

function backupName(path: string, time: number): string {
  const { prefix, extension } = partsOf(path);
  const text = new Date(time).toISOString().slice(0, -1).replaceAll(':', '-');
  return join(dirname(path), `${prefix}${text}${extension}`);
}

function partsOf(path: string): { prefix: string; extension: string } {
  const extension = extname(path);
  return { prefix: `${basename(path, extension)}-`, extension };
}

function readTime(text: string): number | undefined {
  const match = TIME.exec(text);
  if (match === null) return undefined;
  const [, day, hours, minutes, seconds] = match;
  const time = Date.parse(`${day}T${hours}:${minutes}:${seconds}Z`);
  return Number.isNaN(time) ? undefined : time;
}
