import { parseJson } from '../parse-json.ts';
import type { MessagePlan } from './message-plans.ts';

/** What a message that is one JSON value looks like once its fields are read by name. */
type Fields = Readonly<Record<string, unknown>>;

/** A message that stands for one JSON value: how to get that from its fields, and the fields from it. */
export interface SingleValue {
  /** Undefined where the message says nothing. */
  toJson(fields: Fields): unknown;
  toFields(value: unknown): Fields;
}

/** How a message of that type is a single JSON value; undefined for an ordinary one. */
export function singleValueOf({ type }: MessagePlan): SingleValue | undefined {
  return SINGLE_VALUES[type];
}

const text = new TextDecoder();

/** JSON in bytes, as `RawExtension` and `FieldsV1` carry it. */
const rawJson = (member: string): SingleValue => ({
  toJson: (fields) => {
    const raw = fields[member] as Uint8Array | undefined;
    return raw === undefined || raw.length === 0 ? undefined : (parseJson(text.decode(raw)) as unknown);
  },
  toFields: (value) => ({ [member]: Buffer.from(JSON.stringify(value)) }),
});

const itemsOnly: SingleValue = {
  toJson: ({ items }) => items ?? [],
  toFields: (items) => ({ items }),
};

const time = (fractionDigits: number): SingleValue => ({
  toJson: ({ seconds = 0, nanos = 0 }) =>
    seconds === 0 && nanos === 0 ? undefined : formatTime(seconds as number, nanos as number, fractionDigits),
  toFields: (value) => (typeof value === 'string' ? parseTime(value) : {}),
});

const SINGLE_VALUES: Readonly<Record<string, SingleValue>> = {
  Time: time(0),
  MicroTime: time(6),
  Duration: {
    toJson: ({ duration = 0 }) => formatGoDuration(duration as number),
    toFields: (value) => ({ duration: parseGoDuration(value as string) }),
  },
  Quantity: {
    toJson: ({ string }) => string ?? '0',
    toFields: (value) => ({ string: String(value) }),
  },
  IntOrString: {
    toJson: ({ type = 0, intVal = 0, strVal = '' }) => (type === 1 ? strVal : intVal),
    toFields: (value) =>
      typeof value === 'string' ? { type: 1, intVal: 0, strVal: value } : { type: 0, intVal: value, strVal: '' },
  },
  // The envelope of every body: its content stays bytes.
  Unknown: { toJson: (fields) => fields, toFields: (value) => value as Fields },
  FieldsV1: rawJson('Raw'),
  RawExtension: rawJson('raw'),
  JSON: rawJson('raw'),
  ExtraValue: itemsOnly,
  Verbs: itemsOnly,
  JSONSchemaPropsOrArray: {
    toJson: ({ schema, jSONSchemas }) => schema ?? jSONSchemas ?? [],
    toFields: (value) => (Array.isArray(value) ? { jSONSchemas: value } : { schema: value }),
  },
  JSONSchemaPropsOrBool: {
    toJson: ({ schema, allows = false }) => schema ?? allows,
    toFields: (value) => (typeof value === 'boolean' ? { allows: value } : { allows: true, schema: value }),
  },
  JSONSchemaPropsOrStringArray: {
    toJson: ({ schema, property }) => schema ?? property ?? [],
    toFields: (value) => (Array.isArray(value) ? { property: value } : { schema: value }),
  },
};

function formatTime(seconds: number, nanos: number, fractionDigits: number): string {
  const whole = new Date(seconds * 1000).toISOString().slice(0, 19);
  const fraction = fractionDigits === 0 ? '' : `.${String(nanos).padStart(9, '0').slice(0, fractionDigits)}`;
  return `${whole}${fraction}Z`;
}

function parseTime(value: string): Fields {
  const seconds = Math.floor(Date.parse(value) / 1000);
  const fraction = /\.(\d+)/.exec(value)?.[1] ?? '';
  return { seconds, nanos: Number(fraction.padEnd(9, '0').slice(0, 9)) };
}

const UNIT_NANOS: Readonly<Record<string, number>> = {
  ns: 1,
  us: 1e3,
  µs: 1e3,
  μs: 1e3,
  ms: 1e6,
  s: 1e9,
  m: 60e9,
  h: 3600e9,
};

/** `1h0m0.5s`, as Go's `time.Duration` prints nanoseconds. */
export function formatGoDuration(nanos: number): string {
  if (nanos === 0) return '0s';
  const sign = nanos < 0 ? '-' : '';
  const left = Math.abs(nanos);
  if (left < 1e9) {
    const [unit, size] = left < 1e3 ? ['ns', 1] : left < 1e6 ? ['µs', 1e3] : ['ms', 1e6];
    return `${sign}${left / (size as number)}${unit}`;
  }
  const hours = Math.floor(left / 3600e9);
  const minutes = Math.floor((left % 3600e9) / 60e9);
  const seconds = (left % 60e9) / 1e9;
  return `${sign}${hours > 0 ? `${hours}h` : ''}${hours > 0 || minutes > 0 ? `${minutes}m` : ''}${seconds}s`;
}

/** The inverse of {@link formatGoDuration}. */
export function parseGoDuration(duration: string): number {
  let nanos = 0;
  for (const [, amount = '0', unit = 's'] of duration.matchAll(/([\d.]+)(ns|us|µs|μs|ms|s|m|h)/g)) {
    nanos += Number(amount) * (UNIT_NANOS[unit] ?? 0);
  }
  return Math.round(duration.startsWith('-') ? -nanos : nanos);
}
