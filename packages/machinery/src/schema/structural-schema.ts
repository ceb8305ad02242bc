import { isValueField } from '../protobuf/go-fields.ts';
import { ALWAYS_WRITTEN, LEFT_OUT_WHEN_EMPTY } from './always-written.ts';
import { compileGoPattern, type GoPattern } from './go-regexp.ts';
import type { JsonType, OpenApiSchema } from './open-api-schema.ts';

/** What a scalar may be for server-side apply; `untyped` is any of them. */
export type ScalarKind = 'numeric' | 'string' | 'boolean' | 'untyped';

/** Where schemas come from: built-in ones refer to each other by name, those of a CustomResourceDefinition stand alone. */
export interface SchemaOrigin {
  /**
   * Built-in objects are Go structs upstream: fields that are structs always exist, and a schema's default that is a zero
   * value (`{}`, `""`, `0`, `false`) only says so.
   */
  builtin: boolean;
  /** The schema that a `$ref` names. Throws for an unknown one. */
  named(ref: string): StructuralSchema;
  /** `ObjectMeta`, which every resource has, embedded ones too. */
  objectMeta(): StructuralSchema;
}

interface Place {
  /** The component's name, e.g. `io.k8s.api.apps.v1.DeploymentSpec`; empty for an inline schema. */
  component?: string;
  /** The schema that `source` refers to; its children are shared. */
  base?: StructuralSchema;
  /** An ancestor has `x-kubernetes-preserve-unknown-fields`. */
  preserving?: boolean;
  /** The object is a resource: it has apiVersion, kind and ObjectMeta whether the schema says so or not. */
  resource?: boolean;
}

/**
 * One node of a schema as all walks over objects want it: references resolved, extensions read, children compiled when
 * first asked for. Built-in kinds and custom resources look the same from here.
 *
 * Made by {@link schemaOfKind}, {@link customResourceSchema} and {@link structuralSchema}; never changes afterwards.
 */
export class StructuralSchema {
  /** The schema itself with its reference merged in: value validations are read from here. */
  readonly source: OpenApiSchema;
  /** The Go type's name, e.g. `DeploymentSpec`; empty for an inline schema. */
  readonly name: string;
  readonly builtin: boolean;
  /** Undefined accepts any type. */
  readonly type: JsonType | undefined;
  readonly nullable: boolean;
  readonly intOrString: boolean;
  /** Unknown fields directly below stay. */
  readonly preserveUnknown: boolean;
  readonly embeddedResource: boolean;
  /** There is an `allOf`, `anyOf`, `oneOf` or `not`. */
  readonly hasJunctors: boolean;
  readonly listType: 'atomic' | 'set' | 'map';
  readonly listMapKeys: readonly string[];
  readonly mapType: 'granular' | 'atomic';
  readonly patchMergeKey: string | undefined;
  readonly patchStrategies: readonly string[];
  readonly #origin: SchemaOrigin;
  readonly #component: string;
  readonly #base: StructuralSchema | undefined;
  readonly #preserving: boolean;
  readonly #resource: boolean;
  #fields: ReadonlyMap<string, StructuralSchema> | undefined;
  #declared: ReadonlyMap<string, StructuralSchema> | undefined;
  #additional: StructuralSchema | null | undefined;
  #items: StructuralSchema | null | undefined;
  #element: StructuralSchema | null | undefined;
  #zero: Readonly<Record<string, unknown>> | null | undefined;
  #unset: ReadonlySet<string> | undefined;
  #branches: Map<string, readonly StructuralSchema[]> | undefined;
  #defaulted: readonly (readonly [string, StructuralSchema])[] | undefined;
  #traits: Traits | undefined;
  #pattern: GoPattern | undefined;

  constructor(source: OpenApiSchema, origin: SchemaOrigin, place: Place = {}) {
    this.source = source;
    this.#component = place.component ?? (place.base ? place.base.#component : '');
    this.name = this.#component.slice(this.#component.lastIndexOf('.') + 1);
    this.builtin = origin.builtin;
    this.type = source.type;
    this.nullable = source.nullable === true;
    this.intOrString = source['x-kubernetes-int-or-string'] === true || source.format === 'int-or-string';
    this.embeddedResource = source['x-kubernetes-embedded-resource'] === true;
    this.hasJunctors = Boolean(source.allOf ?? source.anyOf ?? source.oneOf ?? source.not);
    this.listType = source['x-kubernetes-list-type'] ?? 'atomic';
    this.listMapKeys = source['x-kubernetes-list-map-keys'] ?? [];
    this.mapType = source['x-kubernetes-map-type'] ?? (this.name === 'RawExtension' ? 'atomic' : 'granular');
    this.patchMergeKey = source['x-kubernetes-patch-merge-key'];
    this.patchStrategies = source['x-kubernetes-patch-strategy']?.split(',') ?? [];
    this.#origin = origin;
    this.#base = place.base;
    this.#preserving = place.preserving === true || source['x-kubernetes-preserve-unknown-fields'] === true;
    this.#resource = place.resource === true || this.embeddedResource;
    this.preserveUnknown =
      source['x-kubernetes-preserve-unknown-fields'] === true || (origin.builtin && isFreeForm(source, this.name));
  }

  /** The properties that the schema declares. */
  get declared(): ReadonlyMap<string, StructuralSchema> {
    this.#declared ??= this.#base?.declared ?? this.#compileProperties();
    return this.#declared;
  }

  /** The declared properties; for a resource with apiVersion, kind and metadata as every resource has them. */
  get fields(): ReadonlyMap<string, StructuralSchema> {
    this.#fields ??= this.#resource ? this.#withTypeAndObjectMeta() : this.declared;
    return this.#fields;
  }

  /** The schema of values under undeclared keys, when there is one. */
  get additional(): StructuralSchema | undefined {
    if (this.#additional === undefined) {
      const { additionalProperties } = this.source;
      this.#additional =
        typeof additionalProperties !== 'object' ? null : (this.#base?.additional ?? this.#child(additionalProperties));
    }
    return this.#additional ?? undefined;
  }

  get items(): StructuralSchema | undefined {
    if (this.#items === undefined) {
      const { items } = this.source;
      this.#items = items === undefined ? null : (this.#base?.items ?? this.#child(items));
    }
    return this.#items ?? undefined;
  }

  /** The schema of the value under `key`: declared, or that of additional properties. */
  field(key: string): StructuralSchema | undefined {
    return this.fields.get(key) ?? this.additional;
  }

  /** The alternatives under `allOf`, `anyOf` or `oneOf`. */
  branches(junctor: 'allOf' | 'anyOf' | 'oneOf' | 'not'): readonly StructuralSchema[] {
    const clause = this.source[junctor];
    if (clause === undefined) return [];
    this.#branches ??= new Map();
    let branches = this.#branches.get(junctor);
    if (!branches) {
      branches = [clause].flat().map((branch) => this.#child(branch as OpenApiSchema));
      this.#branches.set(junctor, branches);
    }
    return branches;
  }

  /** As a scalar of server-side apply; undefined where the schema is of an object or a list. */
  get scalar(): ScalarKind | undefined {
    switch (this.type) {
      case 'object':
      case 'array':
        return undefined;
      case 'integer':
      case 'number':
        return 'numeric';
      case 'boolean':
        return 'boolean';
      case 'string':
        return this.source.format === undefined || this.source.format === 'byte' ? 'string' : 'untyped';
      default:
        return 'untyped';
    }
  }

  /** What a list holds for server-side apply: as `items`, and anything, taken whole, where nothing is said. */
  get listElement(): StructuralSchema {
    return this.items ?? UNTYPED_ATOMIC;
  }

  /** What undeclared keys hold for server-side apply; undefined where they are an error. */
  get mapElement(): StructuralSchema | undefined {
    if (this.#element === undefined) this.#element = this.additional ?? (this.#allowsAnyKey() ? DEDUCED : null);
    return this.#element ?? undefined;
  }

  /** The fields that a Go struct of this type always has, with their zero values; undefined where there are none. */
  get zero(): Readonly<Record<string, unknown>> | undefined {
    if (this.#zero === undefined) this.#zero = this.builtin ? (this.#base?.zero ?? this.#zeroFields()) : null;
    return this.#zero ?? undefined;
  }

  /** The scalars of a Go struct in which a zero value (`""`, 0, false) says nothing, and is not written. */
  get unsetByZero(): ReadonlySet<string> {
    this.#unset ??= this.#base?.unsetByZero ?? new Set(this.builtin ? this.#valueFields() : []);
    return this.#unset;
  }

  /** The default that {@link applyDefaults} sets; undefined where there is none. */
  get defaultValue(): unknown {
    const value = this.source.default;
    return value === null || (this.builtin && isZeroValue(value)) ? undefined : value;
  }

  /** The pattern that texts must match; undefined where there is none, or none that can be read. */
  get pattern(): GoPattern | undefined {
    if (!this.source.pattern) return undefined;
    return (this.#pattern ??= compileGoPattern(this.source.pattern).pattern);
  }

  /** The declared fields that have a default. */
  get defaulted(): readonly (readonly [string, StructuralSchema])[] {
    this.#defaulted ??= [...this.declared].filter(([, field]) => field.defaultValue !== undefined);
    return this.#defaulted;
  }

  /** There is an embedded resource here or below. */
  get hasEmbedded(): boolean {
    return this.#traitsBelow().embedded;
  }

  /** There is a list of type set or map here or below. */
  get hasListTypes(): boolean {
    return this.#traitsBelow().listTypes;
  }

  /** There is a CEL rule here or below. */
  get hasRules(): boolean {
    return this.#traitsBelow().rules;
  }

  /** There is a default here or below. */
  get hasDefaults(): boolean {
    return this.#traitsBelow().defaults;
  }

  /** Computed once, for schemas that stand alone: others may refer to themselves. */
  #traitsBelow(): Traits {
    if (this.#traits) return this.#traits;
    const traits: Traits = {
      embedded: this.embeddedResource,
      listTypes: this.listType !== 'atomic',
      rules: (this.source['x-kubernetes-validations']?.length ?? 0) > 0,
      defaults: this.defaultValue !== undefined,
    };
    for (const child of [...this.declared.values(), this.additional, this.items]) {
      if (!child) continue;
      const below = child.#traitsBelow();
      for (const name of TRAITS) traits[name] ||= below[name];
    }
    this.#traits = traits;
    return traits;
  }

  #child(source: OpenApiSchema): StructuralSchema {
    if (source.$ref !== undefined) return this.#origin.named(source.$ref);
    const only = source.allOf?.length === 1 ? source.allOf[0]?.$ref : undefined;
    if (only !== undefined) {
      const base = this.#origin.named(only);
      const { allOf: _, ...siblings } = source;
      return new StructuralSchema({ ...base.source, ...siblings }, this.#origin, { base });
    }
    return new StructuralSchema(source, this.#origin, { preserving: this.#preserving });
  }

  #compileProperties(): ReadonlyMap<string, StructuralSchema> {
    const fields = new Map<string, StructuralSchema>();
    for (const [name, source] of Object.entries(this.source.properties ?? {})) fields.set(name, this.#child(source));
    return fields;
  }

  #withTypeAndObjectMeta(): ReadonlyMap<string, StructuralSchema> {
    const text = new StructuralSchema({ type: 'string' }, this.#origin);
    return new Map([...this.declared, ['apiVersion', text], ['kind', text], ['metadata', this.#origin.objectMeta()]]);
  }

  #allowsAnyKey(): boolean {
    if (this.source.additionalProperties !== undefined) return this.source.additionalProperties !== false;
    return this.#preserving || (this.fields.size === 0 && this.source.properties === undefined);
  }

  #zeroFields(): Readonly<Record<string, unknown>> | null {
    const required = new Set(this.source.required);
    const zero: Record<string, unknown> = { ...(ALWAYS_WRITTEN[this.name] ?? ALWAYS_WRITTEN[this.#component]) };
    for (const [name, field] of this.declared) {
      if (LEFT_OUT_WHEN_EMPTY.has(`${this.name}.${name}`)) continue;
      const value = field.source.default;
      if (typeof value === 'object' && value !== null) zero[name] = field.zero ?? {};
      // A required scalar without a default has `omitempty`.
      else if (required.has(name) && (value !== undefined || !isScalar(field))) zero[name] = value ?? null;
    }
    return Object.keys(zero).length > 0 ? zero : null;
  }

  #valueFields(): string[] {
    return [...this.declared].flatMap(([name, { type, source, intOrString, name: typeName }]) => {
      const isText = type === 'string' && source.format !== 'date-time' && typeName !== 'Quantity';
      if (intOrString || !(isText || type === 'boolean' || type === 'integer' || type === 'number')) return [];
      return isValueField(structOf(this.#component), name, type) ? [name] : [];
    });
  }
}

/** The struct that has the scalars of a type that embeds another. */
function structOf(component: string): string {
  if (component.endsWith('.EphemeralContainer')) return `${component}Common`;
  return component.replace(/\.(?:Named)?RuleWithOperations$/, '.Rule');
}

/** What is somewhere in a schema, so that walks that look for nothing else can be left out. */
interface Traits {
  embedded: boolean;
  listTypes: boolean;
  rules: boolean;
  defaults: boolean;
}

const TRAITS = ['embedded', 'listTypes', 'rules', 'defaults'] as const;

function isScalar({ type, name }: StructuralSchema): boolean {
  return name === '' && type !== undefined && type !== 'object' && type !== 'array';
}

/** Types that hold whatever is put in: `{}`, and objects without any property that are not empty structs. */
function isFreeForm(source: OpenApiSchema, name: string): boolean {
  if (source.type === undefined) return source.oneOf === undefined;
  const isBare = source.type === 'object' && !source.properties && source.additionalProperties === undefined;
  return isBare && name !== 'CustomResourceSubresourceStatus';
}

function isZeroValue(value: unknown): boolean {
  if (value === '' || value === 0 || value === false) return true;
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0;
}

/** A schema may not refer to others. */
const STANDALONE: SchemaOrigin = {
  builtin: false,
  named(ref) {
    throw new Error(`a schema that stands alone refers to ${ref}`);
  },
  objectMeta: () => DEDUCED,
};

/** Anything: scalars and lists are taken whole, objects key by key. */
const DEDUCED: StructuralSchema = new StructuralSchema({ 'x-kubernetes-preserve-unknown-fields': true }, STANDALONE);

/** Anything, taken whole. */
const UNTYPED_ATOMIC: StructuralSchema = new StructuralSchema(
  { 'x-kubernetes-preserve-unknown-fields': true, 'x-kubernetes-map-type': 'atomic' },
  STANDALONE,
);
