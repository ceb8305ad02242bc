import { statSync } from 'node:fs';

/** Bytes of the file; 0 if there is none. */
export function fileSize(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}
