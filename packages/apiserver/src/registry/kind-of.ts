import type { GroupVersionKind } from '@asterism/machinery';
import type { ServedVersion } from './served-version.ts';

/** The kind of what is written to a resource, or to a subresource of it. */
export function kindOf({ type, subresources }: ServedVersion, subresource: string): GroupVersionKind {
  const { group, version, kind } = subresources.find(({ name }) => name === subresource) ?? type;
  return { group, version, kind };
}
