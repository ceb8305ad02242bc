import { existsSync } from 'node:fs';
import { join } from 'node:path';

/** A program that a baseline needs is not there. */
export class MissingBinary extends Error {}

/**
 * The path of a real Kubernetes program in `KUBEBUILDER_ASSETS`.
 *
 * @throws {MissingBinary} with what to do.
 */
export function realBinary(name: string, folder = process.env['KUBEBUILDER_ASSETS']): string {
  if (!folder) {
    throw new MissingBinary(`no ${name}: set KUBEBUILDER_ASSETS to a folder that has it (setup-envtest downloads one)`);
  }
  const path = join(folder, name);
  if (!existsSync(path)) throw new MissingBinary(`no ${name} in KUBEBUILDER_ASSETS (${folder})`);
  return path;
}
