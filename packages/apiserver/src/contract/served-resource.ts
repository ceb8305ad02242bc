import type { OpenApiSchema, ResourceType } from '@asterism/machinery';

/** One version of one resource, as discovery names it. */
export interface ServedResource {
  readonly type: ResourceType;
  readonly singular: string;
  /** `DeploymentList`; a CRD may choose its own. */
  readonly listKind: string;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly verbs: readonly string[];
  readonly subresources: readonly ServedSubresource[];
  /** `builtin`: protobuf is understood, list items carry no `kind`. `custom`: from a CRD. */
  readonly storage: 'builtin' | 'custom';
  /** The schema of one object, resolved lazily for built-in kinds; undefined where a kind has none. */
  readonly schema: OpenApiSchema | undefined;
  /** Custom resources: `additionalPrinterColumns` as in the CRD. */
  readonly printerColumns?: readonly PrinterColumn[];
  /** Custom resources: JSON paths of `selectableFields`, e.g. `.spec.colour`. */
  readonly selectableFields?: readonly string[];
  /** Custom resources: the version in which objects are stored; discovery shows a hash of it. */
  readonly storageVersion?: string;
  /** A warning that belongs to every answer for this version (deprecation), or undefined. */
  readonly warning?: string;
}

export interface ServedSubresource {
  name: string;
  /** Of the body: `Scale` in `autoscaling/v1` for `scale`, the parent's own kind for `status`. */
  group: string;
  version: string;
  kind: string;
  verbs: readonly string[];
}

export interface PrinterColumn {
  name: string;
  type: string;
  jsonPath: string;
  format?: string;
  description?: string;
  priority?: number;
}
