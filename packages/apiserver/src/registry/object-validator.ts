import { type FieldError, forbidden, invalid, type KubeObject, type StatusError } from '@asterism/machinery';
import type { ObjectStore } from '../storage/object-store.ts';
import type { ServedVersion } from './served-version.ts';
import type { Draft } from '../contract/strategy.ts';
import {
  finalizerWarnings,
  validateFinalizerNames,
  validateMetadata,
  validateMetadataUpdate,
} from './validate-metadata.ts';
import type { Write } from './write.ts';

/** Validates the object that a write is about to store. */
export class ObjectValidator {
  readonly #store: ObjectStore;

  constructor(store: ObjectStore) {
    this.#store = store;
  }

  /** Throws 422 with all faults that the kind finds. A deletion has no object, and no faults. */
  validate({ resource, object: draft, old, context: { subresource }, strategyContext: { warn } }: Write): void {
    if (draft === undefined) return;
    const { strategy } = resource;
    // Hundreds of thousands of faults are too many to be spread as arguments.
    let faults = metadataFaults(resource, draft, old);
    if (old && subresource === 'status' && strategy.validateStatus) {
      faults = faults.concat(strategy.validateStatus(draft, old));
    } else {
      if (!old) faults = faults.concat(strategy.validateCreate?.(draft) ?? []);
      faults = faults.concat(strategy.validate?.(draft) ?? []);
      if (old) faults = faults.concat(strategy.validateUpdate?.(draft, old, subresource) ?? []);
    }
    if (faults.length > 0) throw invalidObject(resource, draft.metadata.name ?? '', faults);
    const why = old && strategy.refuseUpdate?.(draft, old, { subresource, store: this.#store });
    if (why !== undefined) throw forbidden(resource.type, draft.metadata.name ?? '', why);
    for (const text of finalizerWarnings(draft.metadata, old?.metadata)) warn(text);
    for (const text of strategy.warnings?.(draft, old, subresource) ?? []) warn(text);
  }
}

/** Upstream checks the metadata of an update in general and again for the kind, and reports what it finds each time. */
function metadataFaults(resource: ServedVersion, { metadata }: Draft, old: KubeObject | undefined): FieldError[] {
  const faults = validateMetadata(resource, metadata);
  const names = validateFinalizerNames(resource, metadata);
  if (!old) return [...faults, ...names];
  const changes = validateMetadataUpdate(metadata, old.metadata ?? {});
  const checks = resource.strategy.metadataChecks ?? 3;
  const times = (count: number, found: FieldError[]): FieldError[] =>
    found.length === 0 ? found : Array.from({ length: count }, () => found).flat();
  return [...changes, ...changes, ...times(checks, faults), ...times(Math.max(checks - 2, 1), names)];
}

/** 422 with a cause for each fault. */
function invalidObject(
  { type, groupResource }: ServedVersion,
  name: string,
  faults: readonly FieldError[],
): StatusError {
  // The group is that of the stored kind: Events are of none, whatever group they were written to.
  const group = groupResource.split('.').slice(1).join('.');
  return invalid({ kind: type.kind, group }, name, faults);
}
