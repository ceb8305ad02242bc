import { conflict, type KubeObject, type StatusError } from '@asterism/machinery';
import { unexpected } from './decode-object.ts';
import { revisionFault } from './list-options.ts';
import type { ServedVersion } from './served-version.ts';
import type { Draft } from '../contract/strategy.ts';

/** A writer that says which version or which object it saw must have seen what is there now. */
export function requireSeen(resource: ServedVersion, name: string, draft: Draft, old: KubeObject): void {
  requireRevision(draft);
  const { resourceVersion = '' } = draft.metadata;
  const current = old.metadata ?? {};
  const conditional = resourceVersion !== '' && resourceVersion !== '0';
  if (conditional && resourceVersion !== current.resourceVersion) throw modified(resource, name);
}

/** 500, as upstream, for a resourceVersion that is no number. */
export function requireRevision({ metadata: { resourceVersion = '' } }: Draft): void {
  const fault = resourceVersion === '' ? undefined : revisionFault(resourceVersion);
  if (fault !== undefined) throw unexpected(fault);
}

/** 409 as clients know it: read again, change again. */
export function modified(resource: ServedVersion, name: string): StatusError {
  const why = 'the object has been modified; please apply your changes to the latest version and try again';
  return conflict(resource.type, name, why);
}
