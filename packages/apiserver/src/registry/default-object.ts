import { applyDefaults } from '@asterism/machinery';
import type { ServedVersion } from './served-version.ts';
import type { Draft } from '../contract/strategy.ts';

/** Sets the defaults of a custom resource's schema, and those of the kind. */
export function defaultObject(resource: ServedVersion, draft: Draft): void {
  // Elsewhere an empty list is the same as none; here it asks to forget all owners.
  const ownersForgotten = draft.metadata.managedFields?.length === 0;
  // A built-in object got them when it was decoded.
  if (resource.structural && resource.storage === 'custom') applyDefaults(draft, resource.structural);
  resource.strategy.applyDefaults?.(draft);
  if (ownersForgotten) draft.metadata.managedFields = [];
}
