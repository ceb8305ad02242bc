import { existsSync } from 'node:fs';
import { join } from 'node:path';

/** Real binaries, where `KUBEBUILDER_ASSETS` names a folder that has them. */
export function binary(name: string): string | undefined {
  const folder = process.env['KUBEBUILDER_ASSETS'];
  if (!folder) return undefined;
  const path = join(folder, name);
  return existsSync(path) ? path : undefined;
}

/** The same for a test that was not skipped: throws where the binary is missing. */
export function requiredBinary(name: string): string {
  const path = binary(name);
  if (path === undefined) throw new Error(missing(name));
  return path;
}

/** For `test(name, {skip})`: false where all of the binaries are there, else why the test is skipped. */
export function unlessThere(...names: string[]): false | string {
  const absent = names.find((name) => binary(name) === undefined);
  return absent === undefined ? false : missing(absent);
}

function missing(name: string): string {
  return `no ${name}: set KUBEBUILDER_ASSETS to a folder that has it`;
}
