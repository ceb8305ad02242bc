import { messageNamesOf } from './api-packages.ts';
import { isValueField, jsonNameOf } from './go-fields.ts';

/** One node of protobufjs' JSON descriptor. */
export interface Descriptor {
  nested?: Readonly<Record<string, Descriptor>>;
  fields?: Readonly<Record<string, { type: string; id: number; rule?: 'repeated'; keyType?: 'string' }>>;
}

export type ScalarType = 'string' | 'bool' | 'int32' | 'int64' | 'bytes' | 'double';

/** How a value is laid out on the wire, in the low three bits of its tag. */
export const WireType = { varint: 0, fixed64: 1, delimited: 2 } as const;

export const WIRE_TYPES: Readonly<Record<ScalarType, number>> = {
  string: WireType.delimited,
  bytes: WireType.delimited,
  bool: WireType.varint,
  int32: WireType.varint,
  int64: WireType.varint,
  double: WireType.fixed64,
};

/** How one field goes between the wire and JSON. */
export interface FieldPlan {
  id: number;
  /** The name in JSON; empty for a field whose own fields stand in its place. */
  name: string;
  repeated: boolean;
  /** A map with string keys. */
  map: boolean;
  scalar: ScalarType | undefined;
  /** Compiled when first asked for: messages contain each other. */
  message(): MessagePlan;
  /** The wire always carries it, so that a zero value says no more than its absence. */
  value: boolean;
}

export interface MessagePlan {
  /** The last part of the message's name, e.g. `ObjectMeta`. */
  type: string;
  /** By ascending number, in which order they are written. */
  fields: readonly FieldPlan[];
  /** In the order of the Go struct. */
  declared: readonly FieldPlan[];
  byId: ReadonlyMap<number, FieldPlan>;
}

/** The messages of a descriptor, compiled one by one when first used. */
export class MessagePlans {
  readonly #root: Descriptor;
  readonly #plans = new Map<string, MessagePlan>();

  constructor(root: Descriptor) {
    this.#root = root;
  }

  /** The message of a kind; undefined for a kind that has none. */
  ofKind(group: string, version: string, kind: string): MessagePlan | undefined {
    const name = messageNamesOf(group, version, kind).find((candidate) => this.#find(candidate)?.fields);
    return name === undefined ? undefined : this.named(name);
  }

  /** The message of that full name. Throws for an unknown one. */
  named(path: string): MessagePlan {
    let plan = this.#plans.get(path);
    if (!plan) {
      plan = this.#compile(path);
      this.#plans.set(path, plan);
    }
    return plan;
  }

  #compile(path: string): MessagePlan {
    const descriptor = this.#find(path);
    if (!descriptor?.fields) throw new Error(`no protobuf message ${path}`);
    const scope = path.slice(0, path.lastIndexOf('.'));
    const type = path.slice(scope.length + 1);
    const declared = Object.entries(descriptor.fields).map(([name, field]): FieldPlan => {
      const target = this.#resolve(field.type, scope);
      const jsonName = jsonNameOf(type, name);
      return {
        id: field.id,
        name: jsonName,
        repeated: field.rule === 'repeated',
        map: field.keyType !== undefined,
        scalar: Object.hasOwn(WIRE_TYPES, field.type) ? (field.type as ScalarType) : undefined,
        message: () => this.named(target),
        value: isValueField(path, jsonName, field.type),
      };
    });
    const fields = declared.toSorted((a, b) => a.id - b.id);
    return { type, fields, declared, byId: new Map(fields.map((field) => [field.id, field])) };
  }

  /** A type is named in full, or within its own package. */
  #resolve(type: string, scope: string): string {
    if (type.startsWith('.')) return type.slice(1);
    return type.includes('.') ? type : `${scope}.${type}`;
  }

  #find(path: string): Descriptor | undefined {
    let node: Descriptor | undefined = this.#root;
    for (const part of path.split('.')) {
      node = node?.nested && Object.hasOwn(node.nested, part) ? node.nested[part] : undefined;
    }
    return node;
  }
}
