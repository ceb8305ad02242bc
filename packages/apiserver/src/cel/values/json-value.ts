import type { CelField, CelType } from '../typing/cel-type.ts';
import { parseDuration, parseTimestamp } from './parse-time.ts';
import { CelMap, CelUint, type Value } from './value.ts';

type JsonObject = Readonly<Record<string, unknown>>;

/**
 * JSON as expressions see it. Objects are looked into only where an expression does, and their fields by own keys alone. Without
 * a type whole numbers are `int`. A field of an object type that is `null` is absent.
 */
export function celValue(json: unknown, type?: CelType): Value {
  switch (typeof json) {
    case 'string':
      return textValue(json, type);
    case 'number':
      return numberValue(json, type);
    case 'boolean':
    case 'bigint':
      return json;
    default:
  }
  if (typeof json !== 'object' || json === null) return null;
  if (Array.isArray(json)) {
    const element = type?.kind === 'list' ? type.element : undefined;
    return json.map((each) => celValue(each, element));
  }
  return new JsonMap(json as JsonObject, type);
}

function textValue(text: string, type: CelType | undefined): Value {
  switch (type?.kind) {
    case 'bytes':
      return Buffer.from(text, 'base64');
    case 'timestamp':
      return parseTimestamp(text) ?? text;
    case 'duration':
      return parseDuration(text) ?? text;
    default:
      return text;
  }
}

function numberValue(value: number, type: CelType | undefined): Value {
  if (type?.kind === 'double') return value;
  if (type?.kind === 'uint') return new CelUint(BigInt(Math.trunc(value)));
  return Number.isInteger(value) && (type?.kind === 'int' || Number.isSafeInteger(value)) ? BigInt(value) : value;
}

/** A view of a JSON object, with what has been looked at. */
class JsonMap extends CelMap {
  readonly #json: JsonObject;
  readonly #type: CelType | undefined;
  readonly #known = new Map<string, Value>();
  #keys: string[] | undefined;

  constructor(json: JsonObject, type: CelType | undefined) {
    super();
    this.#json = json;
    this.#type = type;
  }

  get size(): number {
    return this.#names().length;
  }

  get(key: Value): Value | undefined {
    if (typeof key !== 'string') return undefined;
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const field = this.#field(key);
    const name = field?.jsonName ?? key;
    if (!Object.hasOwn(this.#json, name)) return undefined;
    const json = this.#json[name];
    if (json === undefined || (json === null && this.#type?.kind === 'object')) return undefined;
    const value = celValue(json, field?.type ?? (this.#type?.kind === 'map' ? this.#type.value : undefined));
    this.#known.set(key, value);
    return value;
  }

  keys(): Iterable<Value> {
    return this.#names();
  }

  #field(name: string): CelField | undefined {
    return this.#type?.kind === 'object' ? this.#type.fields.get(name) : undefined;
  }

  #names(): string[] {
    this.#keys ??=
      this.#type?.kind === 'object'
        ? [...new Map([...this.#type.fields].map(([name, { jsonName }]) => [jsonName, name])).values()].filter(
            (name) => this.get(name) !== undefined,
          )
        : Object.keys(this.#json).filter((name) => this.get(name) !== undefined);
    return this.#keys;
  }
}
