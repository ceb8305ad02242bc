import type { KubeObject } from '@asterism/machinery';
import type { ServedVersion } from '../registry/served-version.ts';
import { internalError } from './webhook-failure.ts';

/** An object of one version of a resource as another version shows it. Subresources of a kind of their own have one form. */
export function convertObject(
  object: KubeObject,
  from: ServedVersion,
  to: ServedVersion,
  subresource: string,
): KubeObject {
  if (from === to || isOfOwnKind(from, subresource)) return object;
  try {
    const stored = from.conversion ? from.conversion.toStorage(object) : object;
    return to.conversion ? to.conversion.fromStorage(stored) : stored;
  } catch (error) {
    throw internalError((error as Error).message);
  }
}

function isOfOwnKind({ type, subresources }: ServedVersion, subresource: string): boolean {
  const own = subresources.find(({ name }) => name === subresource);
  return own !== undefined && own.kind !== type.kind;
}
