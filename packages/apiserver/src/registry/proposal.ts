import type { AdmissionView } from './admission-pipeline.ts';
import type { Ownership } from './field-ownership.ts';
import type { WriteContext } from './registry.ts';
import type { Draft } from '../contract/strategy.ts';

/** The object that a write wants to store, and how it came about. */
export interface Proposal {
  draft: Draft;
  /** `managedFields` are already as the write leaves them. */
  tracked: boolean;
  /** Pruned and given the defaults of its schema. */
  decoded?: boolean;
  /** What admission sees. */
  view?: AdmissionView | undefined;
  /** Lists that were given as empty and are owned so. */
  emptied?: readonly (readonly string[])[];
}

/** Who owns the fields that the write sets. */
export function ownership(
  { fieldManager, subresource }: WriteContext,
  now: string,
  emptied: Proposal['emptied'],
): Ownership {
  return { manager: fieldManager, subresource, now, emptied };
}
