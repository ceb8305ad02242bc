import { formatGoSyntax, formatGoValue, goTypeOf } from '../schema/go-format.ts';
import type { StructuralSchema } from '../schema/structural-schema.ts';
import { ElementError, fieldElement, formatElement, itemElement } from './path-element.ts';
import { isAtomicList, kindOf, memberSchema } from './value-kind.ts';

/**
 * Why an applied object does not fit its schema, in the words of structured-merge-diff; undefined where it does. Only what
 * merging relies on is checked: kinds of values, declared fields, keys of list items.
 */
export function checkApplied(object: unknown, schema: StructuralSchema): string | undefined {
  const faults: string[] = [];
  check(object, schema, '', faults);
  if (faults.length <= 1) return faults[0];
  return ['errors:', ...faults.map((fault) => `  ${fault}`)].join('\n');
}

function check(value: unknown, schema: StructuralSchema, path: string, faults: string[]): void {
  if (value === null || value === undefined) return;
  const fail = (message: string) => faults.push(path === '' ? message : `${path}: ${message}`);
  switch (kindOf(schema, value)) {
    case 'scalar': {
      const fault = checkScalar(value, schema);
      if (fault !== undefined) fail(fault);
      break;
    }
    case 'list':
      if (Array.isArray(value)) checkList(value, schema, path, faults);
      else fail(`expected list, got ${pointer(value)}`);
      break;
    default:
      if (typeof value === 'object' && !Array.isArray(value)) checkMap(value, schema, path, faults);
      else fail(`expected map, got ${pointer(value)}`);
  }
}

function checkScalar(value: unknown, schema: StructuralSchema): string | undefined {
  switch (schema.scalar) {
    case 'numeric':
      return typeof value === 'number' ? undefined : `expected numeric (int or float), got ${goTypeOf(value)}`;
    case 'string': {
      const shown = typeof value === 'string' ? undefined : formatGoSyntax(value);
      return shown === undefined ? undefined : `expected string, got &value.valueUnstructured{Value:${shown}}`;
    }
    case 'boolean':
      return typeof value === 'boolean' ? undefined : `expected boolean, got ${pointer(value)}`;
    default:
      return typeof value === 'object' ? `expected any scalar, got ${pointer(value)}` : undefined;
  }
}

function checkList(list: readonly unknown[], schema: StructuralSchema, path: string, faults: string[]): void {
  const seen = new Set<string>();
  for (const [i, item] of list.entries()) {
    let element = `i:${i}`;
    if (!isAtomicList(schema)) {
      try {
        element = itemElement(item, schema);
      } catch (error) {
        if (!(error instanceof ElementError)) throw error;
        faults.push(`${path}: element ${i}: ${error.message}`);
        return;
      }
      if (seen.has(element)) faults.push(`${path}: duplicate entries for key ${formatElement(element)}`);
      seen.add(element);
    }
    check(item, schema.listElement, path + formatElement(element), faults);
  }
}

function checkMap(object: object, schema: StructuralSchema, path: string, faults: string[]): void {
  for (const [key, value] of Object.entries(object)) {
    const child = path + formatElement(fieldElement(key));
    const field = memberSchema(schema, key);
    if (!field) {
      faults.push(`${child}: field not declared in schema`);
      return;
    }
    check(value, field, child, faults);
  }
}

/** As Go prints the pointer to a value. */
function pointer(value: unknown): string {
  return `&{${formatGoValue(value)}}`;
}
