import type { GroupVersionKind, ResourceType } from './kinds.ts';

/** What stands below an object's URL, e.g. `status` and `scale`. `kind`, `group` and `version` are those of its body. */
export interface BuiltinSubresource extends GroupVersionKind {
  name: string;
  verbs: readonly string[];
}

/** A resource that Kubernetes serves of itself, with what discovery tells of it. */
export interface BuiltinResource extends ResourceType {
  singular: string;
  verbs: readonly string[];
  shortNames: readonly string[];
  categories: readonly string[];
  subresources: readonly BuiltinSubresource[];
}
