import type { Writer } from 'protobufjs';
import { isJsonObject } from '../json-object.ts';

/** Writes a value as the field of that number, with its tag. */
type Field = (writer: Writer, id: number, value: unknown) => void;

/** By the names that the fields have in JSON. */
type Fields = Readonly<Record<string, readonly [id: number, field: Field]>>;

const VARINT = 0;
const FIXED64 = 1;
const DELIMITED = 2;

/**
 * An OpenAPI v2 document as the protobuf message `openapi.v2.Document` of gnostic, which kubectl before 1.27 asks for and
 * nothing else. Written are the fields that Kubernetes' documents have.
 */
export async function encodeSwagger(document: object): Promise<Uint8Array> {
  const { default: protobuf } = await import('protobufjs/minimal.js');
  const writer = protobuf.Writer.create();
  writeFields(writer, document, DOCUMENT);
  return writer.finish();
}

const text: Field = (writer, id, value) => writer.uint32((id << 3) | DELIMITED).string(value as string);
const flag: Field = (writer, id, value) => writer.uint32((id << 3) | VARINT).bool(value as boolean);
const integer: Field = (writer, id, value) => writer.uint32((id << 3) | VARINT).int64(value as number);
const double: Field = (writer, id, value) => writer.uint32((id << 3) | FIXED64).double(value as number);

/** Any value, as YAML: for which JSON is as good. */
const any: Field = (writer, id, value) => {
  writer.uint32((id << 3) | DELIMITED).fork();
  text(writer, 2, `${JSON.stringify(value)}\n`);
  writer.ldelim();
};

function each(field: Field): Field {
  return (writer, id, value) => {
    for (const item of value as readonly unknown[]) field(writer, id, item);
  };
}

/** A message whose only field is this one. */
function within(inner: number, field: Field): Field {
  return (writer, id, value) => {
    writer.uint32((id << 3) | DELIMITED).fork();
    field(writer, inner, value);
    writer.ldelim();
  };
}

/** A map as a list of pairs. */
function named(field: Field): Field {
  return (writer, id, value) => {
    for (const [name, item] of Object.entries(value as object)) {
      writer.uint32((id << 3) | DELIMITED).fork();
      text(writer, 1, name);
      field(writer, 2, item);
      writer.ldelim();
    }
  };
}

function message(fields: Fields): Field {
  return (writer, id, value) => {
    writer.uint32((id << 3) | DELIMITED).fork();
    writeFields(writer, value as object, fields);
    writer.ldelim();
  };
}

/** Members that begin with `x-` are all written as the field `x-`. */
function writeFields(writer: Writer, object: object, fields: Fields): void {
  const extensions: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(object)) {
    const field = Object.hasOwn(fields, key) ? fields[key] : undefined;
    if (value === undefined) continue;
    if (field !== undefined) field[1](writer, field[0], value);
    else if (key.startsWith('x-')) extensions[key] = value;
  }
  const [id = 0, write] = fields['x-'] ?? [];
  write?.(writer, id, extensions);
}

const EXTENSIONS = named(any);

/** Schemas contain schemas. */
const schema: Field = (writer, id, value) => message(SCHEMA)(writer, id, value);

const SCHEMA: Fields = {
  $ref: [1, text],
  format: [2, text],
  title: [3, text],
  description: [4, text],
  multipleOf: [6, double],
  maximum: [7, double],
  exclusiveMaximum: [8, flag],
  minimum: [9, double],
  exclusiveMinimum: [10, flag],
  maxLength: [11, integer],
  minLength: [12, integer],
  pattern: [13, text],
  maxItems: [14, integer],
  minItems: [15, integer],
  uniqueItems: [16, flag],
  maxProperties: [17, integer],
  minProperties: [18, integer],
  required: [19, each(text)],
  enum: [20, each(any)],
  additionalProperties: [
    21,
    (writer, id, value) => (isJsonObject(value) ? within(1, schema) : within(2, flag))(writer, id, value),
  ],
  type: [22, within(1, text)],
  items: [23, within(1, schema)],
  properties: [25, within(1, named(schema))],
  'x-': [31, EXTENSIONS],
};

const PARAMETER: Fields = { required: [1, flag], in: [2, text], name: [4, text] };
const QUERY_PARAMETER: Fields = { ...PARAMETER, type: [6, text], uniqueItems: [20, flag] };
const PATH_PARAMETER: Fields = { ...PARAMETER, type: [5, text], uniqueItems: [19, flag] };
const BODY_PARAMETER: Fields = { name: [2, text], in: [3, text], required: [4, flag], schema: [5, schema] };

const QUERY = within(2, within(3, message(QUERY_PARAMETER)));
const PATH = within(2, within(4, message(PATH_PARAMETER)));
const BODY = within(1, message(BODY_PARAMETER));

const parameter: Field = (writer, id, value) => {
  const { in: where } = value as { in: string };
  const kind = where === 'query' ? QUERY : where === 'path' ? PATH : BODY;
  within(1, kind)(writer, id, value);
};

const RESPONSE: Fields = { description: [1, text], schema: [2, within(1, schema)] };

const OPERATION: Fields = {
  tags: [1, each(text)],
  summary: [2, text],
  description: [3, text],
  operationId: [5, text],
  produces: [6, each(text)],
  consumes: [7, each(text)],
  parameters: [8, each(parameter)],
  responses: [9, within(1, named(within(1, message(RESPONSE))))],
  schemes: [10, each(text)],
  'x-': [13, EXTENSIONS],
};

const operation = message(OPERATION);

const PATH_ITEM: Fields = {
  get: [2, operation],
  put: [3, operation],
  post: [4, operation],
  delete: [5, operation],
  options: [6, operation],
  head: [7, operation],
  patch: [8, operation],
  parameters: [9, each(parameter)],
};

const INFO: Fields = { title: [1, text], version: [2, text] };
const API_KEY_SECURITY: Fields = { type: [1, text], name: [2, text], in: [3, text], description: [4, text] };

const DOCUMENT: Fields = {
  swagger: [1, text],
  info: [2, message(INFO)],
  paths: [8, within(2, named(message(PATH_ITEM)))],
  definitions: [9, within(1, named(schema))],
  security: [12, each(within(1, named(within(1, each(text)))))],
  securityDefinitions: [13, within(1, named(within(2, message(API_KEY_SECURITY))))],
};
