import { customResourceDefinitions } from '@asterism/fleet/api';
import { isJsonObject, type KubeObject } from '@asterism/machinery';

/** What is looked at of a schema. */
interface Schema {
  properties?: Record<string, Schema>;
  items?: Schema;
  enum?: string[];
}

const KINDS = ['PropagationPolicy', 'ClusterPropagationPolicy', 'OverridePolicy', 'ClusterOverridePolicy'];

/**
 * Which fields of the policies' kinds, and which of the words that they may say, were applied by some test, as the definitions of the
 * kinds tell them. A shape that stands in several places, as cluster affinity does, counts once, by the place where it comes first:
 * `spec.placement.clusterAffinity.exclude[]`, `spec.preemption=Always`.
 */
export class PolicyFields {
  readonly #schemas: ReadonlyMap<string, Schema>;
  /** The first place of each shape. */
  readonly #places = new Map<string, string>();
  readonly #all = new Set<string>();
  readonly #used = new Set<string>();

  private constructor(schemas: ReadonlyMap<string, Schema>) {
    this.#schemas = schemas;
    for (const schema of schemas.values()) this.#list(schema, 'spec');
  }

  static async read(): Promise<PolicyFields> {
    const schemas = new Map<string, Schema>();
    for (const { spec } of await customResourceDefinitions()) {
      const schema = spec.versions[0]?.schema?.openAPIV3Schema as Schema | undefined;
      if (KINDS.includes(spec.names.kind)) schemas.set(spec.names.kind, schema?.properties?.['spec'] ?? {});
    }
    return new PolicyFields(schemas);
  }

  /** Notes what a policy says; another object says nothing here. */
  note(object: KubeObject): void {
    const schema = this.#schemas.get(object.kind ?? '');
    if (schema) this.#walk(schema, object['spec'], 'spec');
  }

  /** What no policy has said. */
  missing(): string[] {
    return [...this.#all].filter((field) => !this.#used.has(field));
  }

  #list(schema: Schema, path: string): void {
    const place = this.#placeOf(schema, path);
    if (place !== path) return;
    this.#all.add(place);
    for (const word of schema.enum ?? []) this.#all.add(`${place}=${word}`);
    if (schema.items) this.#list(schema.items, `${place}[]`);
    for (const [name, property] of Object.entries(schema.properties ?? {})) this.#list(property, `${place}.${name}`);
  }

  #walk(schema: Schema, value: unknown, path: string): void {
    const place = this.#placeOf(schema, path);
    this.#used.add(place);
    if (schema.enum) this.#used.add(`${place}=${String(value)}`);
    if (schema.items && Array.isArray(value)) {
      for (const item of value) this.#walk(schema.items, item, `${place}[]`);
    }
    if (!schema.properties || !isJsonObject(value)) return;
    for (const [name, property] of Object.entries(schema.properties)) {
      if (value[name] !== undefined) this.#walk(property, value[name], `${place}.${name}`);
    }
  }

  /** Only what has fields of its own has a shape: two texts are two fields. */
  #placeOf(schema: Schema, path: string): string {
    if (!schema.properties) return path;
    const shape = JSON.stringify(schema.properties);
    const place = this.#places.get(shape) ?? path;
    this.#places.set(shape, place);
    return place;
  }
}
