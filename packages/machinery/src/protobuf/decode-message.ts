import { toBase64 } from '#platform';
import type { Reader } from 'protobufjs';
import { setMember } from '../json-object.ts';
import { type FieldPlan, type MessagePlan, type ScalarType, WIRE_TYPES, WireType } from './message-plans.ts';
import { ProtobufError } from './protobuf-error.ts';
import { singleValueOf } from './single-values.ts';

const KEY = 1;
const VALUE = 2;

/**
 * Reads a message up to `end` into the JSON that it stands for; undefined where that is nothing.
 *
 * @throws ProtobufError, RangeError or SyntaxError for what is no such message.
 */
export function decodeMessage(reader: Reader, end: number, plan: MessagePlan): unknown {
  const fields: Record<string, unknown> = {};
  readFields(reader, end, plan, fields);
  const single = singleValueOf(plan);
  return single ? single.toJson(fields) : fields;
}

function readFields(reader: Reader, end: number, plan: MessagePlan, into: Record<string, unknown>): void {
  const isSingle = singleValueOf(plan) !== undefined;
  while (reader.pos < end) {
    const tag = reader.uint32();
    const wireType = tag & 7;
    const field = plan.byId.get(tag >>> 3);
    if (field) {
      expectWireType(wireType, field.map ? WireType.delimited : wireTypeOf(field), field.name);
      if (field.map) readEntry(reader, field, into);
      else readField(reader, field, into, isSingle);
    } else {
      skip(reader, wireType);
    }
  }
  if (reader.pos !== end) throw new ProtobufError('unexpected EOF');
}

function readField(reader: Reader, field: FieldPlan, into: Record<string, unknown>, isRaw: boolean): void {
  if (field.name === '') {
    const length = reader.uint32();
    readFields(reader, reader.pos + length, field.message(), into);
    return;
  }
  const value = readValue(reader, field, isRaw);
  if (field.repeated) {
    const list = (into[field.name] ??= []) as unknown[];
    list.push(value ?? null);
  } else if (value !== undefined && !(field.value && isZero(value))) {
    into[field.name] = value;
  }
}

function readEntry(reader: Reader, field: FieldPlan, into: Record<string, unknown>): void {
  const length = reader.uint32();
  const end = reader.pos + length;
  let key = '';
  let value: unknown = field.scalar === undefined ? {} : '';
  while (reader.pos < end) {
    const tag = reader.uint32();
    const wireType = tag & 7;
    if (tag >>> 3 === KEY) {
      expectWireType(wireType, WireType.delimited, 'mapkey');
      key = reader.string();
    } else if (tag >>> 3 === VALUE) {
      expectWireType(wireType, wireTypeOf(field), 'mapvalue');
      value = readValue(reader, field, false);
    } else {
      skip(reader, wireType);
    }
  }
  if (reader.pos !== end) throw new ProtobufError('unexpected EOF');
  setMember((into[field.name] ??= {}) as Record<string, unknown>, key, value ?? null);
}

function readValue(reader: Reader, field: FieldPlan, isRaw: boolean): unknown {
  if (field.scalar !== undefined) return readScalar(reader, field.scalar, isRaw);
  const length = reader.uint32();
  return decodeMessage(reader, reader.pos + length, field.message());
}

/** @param isRaw leave bytes as they are; else they become base64. */
function readScalar(reader: Reader, type: ScalarType, isRaw: boolean): unknown {
  switch (type) {
    case 'string':
      return reader.string();
    case 'bool':
      return reader.bool();
    case 'int32':
      return reader.int32();
    case 'int64':
      return Number(reader.int64());
    case 'double':
      return reader.double();
    default: {
      const bytes = reader.bytes();
      return isRaw ? bytes : toBase64(bytes);
    }
  }
}

function wireTypeOf({ scalar }: FieldPlan): number {
  return scalar === undefined ? WireType.delimited : WIRE_TYPES[scalar];
}

function expectWireType(found: number, wanted: number, field: string): void {
  if (found !== wanted) throw new ProtobufError(`proto: wrong wireType = ${found} for field ${field}`);
}

/** Skips a field that this version of the message does not have. Kubernetes has no groups, the wire types 3 and 4. */
function skip(reader: Reader, wireType: number): void {
  if (![0, 1, 2, 5].includes(wireType)) throw new ProtobufError(`proto: illegal wireType ${wireType}`);
  reader.skipType(wireType);
}

function isZero(value: unknown): boolean {
  return value === '' || value === 0 || value === false;
}
