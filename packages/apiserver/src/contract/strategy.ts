import type { FieldError, KubeObject } from '@asterism/machinery';
import type { DeleteOptions } from './delete-options.ts';
import type { FieldValidation } from './field-validation.ts';
import type { ObjectChange } from './object-change.ts';
import type { Stored } from './stored.ts';
import type { UserInfo } from './user-info.ts';

/** A copy of an object that a write is making, and may change. */
export type Draft = KubeObject & { metadata: NonNullable<KubeObject['metadata']> };

/** What a strategy may know of the write it takes part in. */
export interface StrategyContext {
  user: UserInfo;
  /** RFC 3339, whole seconds. */
  now: string;
  namespace: string | undefined;
  dryRun: boolean;
  fieldValidation: FieldValidation;
  random: () => number;
  warn(text: string): void;
}

/** Finds stored objects, for a strategy that depends on them. */
export interface ObjectLookup {
  get(groupResource: string, namespace: string | undefined, name: string): Stored | undefined;
}

/**
 * The rules of one kind that differ from the usual ones, as upstream's `rest.*Strategy`. Every part is optional. Functions change
 * drafts in place, and return faults instead of throwing them.
 */
export interface Strategy {
  /** Fills what clients rely on and the schema's own defaults do not say. Runs on create, update and what a patch made. */
  applyDefaults?(draft: Draft): void;
  /** Throws if no object of the kind can be created. */
  requireCreatable?(name: string): void;
  prepareForCreate?(draft: Draft, context: StrategyContext): void;
  /** Resets what this endpoint may not change. */
  prepareForUpdate?(draft: Draft, old: KubeObject, context: StrategyContext): void;
  /** Runs in an update of the status, after everything else was put back. */
  prepareForStatusUpdate?(draft: Draft, old: KubeObject): void;
  /**
   * Subresources that are parts of the object, besides `status`: each returns `old` with the part of `draft` that this
   * endpoint may change.
   */
  parts?: Readonly<Record<string, (draft: Draft, old: KubeObject, context: StrategyContext) => Draft>>;
  /** Loads code that the four rules below need and few servers use. Undefined once it is loaded. */
  loadRules?(): Promise<void> | undefined;
  validate?(object: KubeObject): FieldError[];
  validateCreate?(object: KubeObject): FieldError[];
  validateUpdate?(object: KubeObject, old: KubeObject, subresource?: string): FieldError[];
  /** Instead of the three above for an update of the status. */
  validateStatus?(object: KubeObject, old: KubeObject): FieldError[];
  /** Why a valid update is forbidden by what else there is (403); undefined where it is not. */
  refuseUpdate?(
    object: KubeObject,
    old: KubeObject,
    context: { subresource: string | undefined; store: ObjectLookup },
  ): string | undefined;
  /** Changes that are committed together with an object; `object` is undefined in a deletion, `old` in a creation. */
  companions?(object: KubeObject | undefined, old: KubeObject | undefined): ObjectChange[];
  /** Faults of a name; by default it is an RFC 1123 subdomain. */
  validateName?(name: string): string[];
  /** Texts of `Warning` headers for what is legal and yet unwise. */
  warnings?(object: KubeObject, old: KubeObject | undefined, subresource?: string): string[];
  /**
   * `none` (default): the kind has no generation. `spec`: 1 at creation, raised when anything but metadata and status changes.
   * `metadata`: raised also by labels (EndpointSlice). `initial`: never raised (PriorityClass).
   */
  generation?: 'spec' | 'none' | 'metadata' | 'initial';
  /** How often upstream looks at the metadata of an update, and so how often it reports each fault. Default 3. */
  metadataChecks?: number;
  /** Fields that an endpoint puts back, and that its writers do not own. Default: by subresource. */
  resetFields?: { main?: readonly (readonly string[])[]; status?: readonly (readonly string[])[] };
  /** A new object may come with its status, as kubelets create their nodes. */
  createsWithStatus?: boolean;
  /** An update of the status cannot change labels either. */
  statusKeepsLabels?: boolean;
  /** A PUT to what does not exist creates it. */
  createOnUpdate?: boolean;
  /** A PUT must say which resourceVersion it has seen. */
  requiresResourceVersion?: boolean;
  /** The answer of a completed delete is the object, not a Status. */
  returnsDeleted?: boolean;
  /** What happens to dependents if the client does not say. Default `Background`. */
  defaultPropagation?: 'Orphan' | 'Background';
  /** Why the object of this name cannot be deleted (403); undefined if it can. */
  refuseDeletion?(name: string): string | undefined;
  /** Whether an object without finalizers can be removed now. Default: its grace period is 0. */
  isDeletionComplete?(object: KubeObject): boolean;
  /** Texts of `Warning` headers for a deletion. */
  deletionWarnings?(options: DeleteOptions): string[];
  /** Seconds of grace for a deletion; 0 or undefined: at once. */
  graceSeconds?(object: KubeObject, options: DeleteOptions): number | undefined;
  /** Marks a deletion in the kind's own way. `usual`: the caller marks the object as those of other kinds. */
  markDeletion?(draft: Draft, context: StrategyContext): 'marked' | 'unchanged' | 'usual';
  /** Finalizers need neither a domain nor a name of Kubernetes' own. */
  allowsAnyFinalizer?: boolean;
  /** Webhooks are not called for the kind, because it configures admission: a broken webhook must remain removable. */
  configuresAdmission?: boolean;
  /** Fields of an empty object that upstream's conversion fills in: a bookmark shows them. */
  bookmark?: { spec?: object; annotations?: Readonly<Record<string, string>> };
  /** Paths for field selectors besides `metadata.name` and `metadata.namespace`, and how to read them. */
  selectableFields?: Readonly<Record<string, (object: KubeObject) => string>>;
  /** The message for any other path, instead of the usual one. */
  unknownFieldMessage?(path: string): string;
}
