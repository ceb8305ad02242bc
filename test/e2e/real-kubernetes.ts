import { existsSync } from 'node:fs';
import { join } from 'node:path';

/** Real binaries, where `KUBEBUILDER_ASSETS` names a folder that has them. */
export function binary(name: string): string | undefined {
  const folder = process.env['KUBEBUILDER_ASSETS'];
  if (!folder) return undefined;
  const path = join(folder, name);
  return existsSync(path) ? path : undefined;
}

/** For `test(name, {skip})`: false where the binary is there, else why the test is skipped. */
export function unlessThere(name: string): false | string {
  return binary(name) === undefined ? `no ${name}: set KUBEBUILDER_ASSETS to a folder that has it` : false;
}
