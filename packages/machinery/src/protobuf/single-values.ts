import { formatGoDuration, parseGoDuration } from '../go-duration.ts';
import { parseJson } from '../parse-json.ts';
import type { MessagePlan } from './message-plans.ts';

/** What a message that is one JSON value looks like once its fields are read by name. */
type Fields = Readonly<Record<string, unknown>>;

/** The content of a field of bytes, as the text that they encode. */
export interface TextBytes {
  utf8: string;
}

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

const decoder = new TextDecoder();

/** JSON in bytes, as `RawExtension` and `FieldsV1` carry it. */
const rawJson = (member: string): SingleValue => ({
  toJson: (fields) => {
    const raw = fields[member] as Uint8Array | undefined;
    return raw === undefined || raw.length === 0 ? undefined : (parseJson(decoder.decode(raw)) as unknown);
  },
  toFields: (value) => ({ [member]: { utf8: JSON.stringify(value) } satisfies TextBytes }),
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
