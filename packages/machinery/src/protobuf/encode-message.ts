import type { Writer } from 'protobufjs';
import { isJsonObject, ownMember } from '../json-object.ts';
import { type FieldPlan, type MessagePlan, type ScalarType, WIRE_TYPES, WireType } from './message-plans.ts';
import { singleValueOf, type TextBytes } from './single-values.ts';

/** Writes the fields of the message that the JSON value stands for, by ascending number. */
export function encodeMessage(writer: Writer, value: unknown, plan: MessagePlan): void {
  const single = singleValueOf(plan);
  const fields = single ? single.toFields(value) : value;
  if (!isJsonObject(fields)) return;
  for (const field of plan.fields) {
    if (field.name === '') writeEmbedded(writer, fields, field);
    else writeField(writer, ownMember(fields, field.name), field);
  }
}

function writeEmbedded(writer: Writer, object: Record<string, unknown>, field: FieldPlan): void {
  writer.uint32((field.id << 3) | WireType.delimited).fork();
  encodeMessage(writer, object, field.message());
  writer.ldelim();
}

function writeField(writer: Writer, value: unknown, field: FieldPlan): void {
  if (value === undefined || value === null) {
    writeZero(writer, field);
    return;
  }
  if (field.map) {
    const map = value as Record<string, unknown>;
    for (const key of Object.keys(map).sort()) writeEntry(writer, key, map[key], field);
  } else if (field.repeated) {
    for (const item of value as readonly unknown[]) writeValue(writer, item, field.id, field);
  } else {
    writeValue(writer, value, field.id, field);
  }
}

/** What Go always writes: its structs hold values where there is no pointer. */
function writeZero(writer: Writer, { id, scalar, value, repeated, map }: FieldPlan): void {
  if (!value || repeated || map) return;
  if (scalar === undefined) writer.uint32((id << 3) | WireType.delimited).uint32(0);
  else {
    writer.uint32((id << 3) | WIRE_TYPES[scalar]);
    writeScalar(writer, scalar === 'string' ? '' : scalar === 'bool' ? false : 0, scalar);
  }
}

function writeEntry(writer: Writer, key: string, value: unknown, field: FieldPlan): void {
  writer.uint32((field.id << 3) | WireType.delimited).fork();
  writer.uint32((1 << 3) | WireType.delimited).string(key);
  writeValue(writer, value, 2, field);
  writer.ldelim();
}

function writeValue(writer: Writer, value: unknown, id: number, field: FieldPlan): void {
  if (field.scalar !== undefined) {
    writer.uint32((id << 3) | WIRE_TYPES[field.scalar]);
    writeScalar(writer, value, field.scalar);
    return;
  }
  writer.uint32((id << 3) | WireType.delimited).fork();
  encodeMessage(writer, value, field.message());
  writer.ldelim();
}

function writeScalar(writer: Writer, value: unknown, type: ScalarType): void {
  switch (type) {
    case 'string':
      writer.string(value as string);
      break;
    case 'bool':
      writer.bool(value as boolean);
      break;
    case 'int32':
      writer.int32(value as number);
      break;
    case 'int64':
      writer.int64(value as number);
      break;
    case 'double':
      writer.double(value as number);
      break;
    default:
      if (isJsonObject(value) && 'utf8' in value) writer.string((value as unknown as TextBytes).utf8);
      else writer.bytes(value as Uint8Array | string);
  }
}
