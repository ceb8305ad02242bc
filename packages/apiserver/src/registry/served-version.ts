import {
  type OpenApiSchema,
  type ResourceType,
  type StructuralSchema,
  formatApiVersion,
  formatGroupResource,
} from '@asterism/machinery';
import type { Conversion } from '../contract/conversion.ts';
import { encodeObject, type FieldSelect, StoredObject } from '../storage/stored-object.ts';
import type { PrinterColumn, ServedResource, ServedSubresource } from '../contract/served-resource.ts';
import type { Strategy } from '../contract/strategy.ts';

export interface ServedVersionOptions {
  type: ResourceType;
  singular: string;
  listKind?: string | undefined;
  shortNames?: readonly string[] | undefined;
  categories?: readonly string[] | undefined;
  verbs: readonly string[];
  subresources?: readonly ServedSubresource[] | undefined;
  storage: 'builtin' | 'custom';
  /** Under which name objects are stored; several served resources may share one. Default: group and resource. */
  groupResource?: string | undefined;
  /** Undefined: what is stored is what is served. */
  conversion?: Conversion | undefined;
  strategy: Strategy;
  /** Called at most once each, when first needed. */
  schema?: (() => OpenApiSchema | undefined) | undefined;
  structural?: (() => StructuralSchema | undefined) | undefined;
  printerColumns?: readonly PrinterColumn[] | undefined;
  selectableFields?: readonly string[] | undefined;
  storageVersion?: string | undefined;
  /** Paths of the parts of a custom resource's Scale, in the form of the CRD. */
  scalePaths?: ScalePaths | undefined;
  warning?: string | undefined;
}

export interface ScalePaths {
  specReplicasPath: string;
  statusReplicasPath: string;
  labelSelectorPath?: string;
}

/** One version of one resource with all that the verbs need of it. */
export class ServedVersion implements ServedResource {
  readonly type: ResourceType;
  readonly singular: string;
  readonly listKind: string;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly verbs: readonly string[];
  readonly subresources: readonly ServedSubresource[];
  readonly storage: 'builtin' | 'custom';
  readonly groupResource: string;
  readonly strategy: Strategy;
  readonly conversion: Conversion | undefined;
  readonly scalePaths: ScalePaths | undefined;
  readonly printerColumns?: readonly PrinterColumn[];
  readonly selectableFields?: readonly string[];
  readonly storageVersion?: string;
  readonly warning?: string;
  /** Paths for field selectors besides those of metadata. */
  readonly selectablePaths: readonly string[];
  readonly selectFields: FieldSelect;
  readonly #options: ServedVersionOptions;
  readonly #views = new WeakMap<StoredObject, StoredObject>();
  #schema: { value: OpenApiSchema | undefined } | undefined;
  #structural: { value: StructuralSchema | undefined } | undefined;

  constructor(options: ServedVersionOptions) {
    const { type, strategy } = options;
    this.#options = options;
    this.type = type;
    this.singular = options.singular;
    this.listKind = options.listKind ?? `${type.kind}List`;
    this.shortNames = options.shortNames ?? [];
    this.categories = options.categories ?? [];
    this.verbs = options.verbs;
    this.subresources = options.subresources ?? [];
    this.storage = options.storage;
    this.groupResource = options.groupResource ?? formatGroupResource(type);
    this.strategy = strategy;
    this.conversion = options.conversion;
    this.scalePaths = options.scalePaths;
    if (options.printerColumns) this.printerColumns = options.printerColumns;
    if (options.selectableFields) this.selectableFields = options.selectableFields;
    if (options.storageVersion !== undefined) this.storageVersion = options.storageVersion;
    if (options.warning) this.warning = options.warning;
    this.selectablePaths = Object.keys(strategy.selectableFields ?? {});
    this.selectFields = fieldSelect(strategy);
  }

  get apiVersion(): string {
    return formatApiVersion(this.type);
  }

  get schema(): OpenApiSchema | undefined {
    this.#schema ??= { value: this.#options.schema?.() };
    return this.#schema.value;
  }

  /** The schema as validation, defaults, pruning and merging take it; undefined where objects are kept as they come. */
  get structural(): StructuralSchema | undefined {
    this.#structural ??= { value: this.#options.structural?.() };
    return this.#structural.value;
  }

  hasSubresource(name: string): boolean {
    return this.subresources.some((each) => each.name === name);
  }

  /** The stored object as this version shows it; the same value for the same object. */
  view(stored: StoredObject): StoredObject {
    if (!this.conversion || stored.madeBy === this) return stored;
    let view = this.#views.get(stored);
    if (!view) {
      const parsed = stored.parse();
      const object = this.conversion.fromStorage(parsed);
      // Without the object: a view lives as long as what it shows, and nobody would have it forget.
      view = object === parsed ? stored : new StoredObject(encodeObject(object, stored.revision), stored.revision);
      this.#views.set(stored, view);
    }
    return view;
  }
}

function fieldSelect({ selectableFields = {} }: Strategy): FieldSelect {
  const own = Object.entries(selectableFields);
  return (object) => {
    const values: Record<string, string> = {
      'metadata.name': object.metadata?.name ?? '',
      'metadata.namespace': object.metadata?.namespace ?? '',
    };
    for (const [path, read] of own) values[path] = read(object);
    return values;
  };
}
