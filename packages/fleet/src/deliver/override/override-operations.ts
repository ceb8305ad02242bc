import {
  copyInSteps,
  isJsonObject,
  JsonPatchedDocument,
  type JsonPatchOperation,
  type KubeObject,
  parseJsonPointer,
  setMember,
  StatusError,
  type Steps,
  valueAtPointer,
} from '@asterism/machinery';
import type { Overriders } from '../../api/index.ts';
import { containersOf } from './containers.ts';
import { changed, faultOf, noEffect, type OverrideStep, patch } from './override-step.ts';

/** Members that are set in one step. */
const MEMBERS_OF_STEP = 8_192;

type Overrider<K extends keyof Overriders> = NonNullable<Overriders[K]>[number];

/** Appends to, or takes out of, the `command` or the `args` of the container of that name, wherever the object runs pods. */
export function* overrideList(
  object: KubeObject,
  field: 'command' | 'args',
  { containerName, operator, value }: Overrider<'argsOverrider'>,
): Steps<OverrideStep> {
  const containers = containersOf(object).filter(({ name }) => name === containerName);
  if (containers.length === 0) return noEffect(object, `there is no container ${containerName}`);
  if (value.length === 0) return noEffect(object, `there is nothing to ${operator}`);
  const given = new Set(value);
  const operations = containers.flatMap((container): JsonPatchOperation[] => {
    const present = container[field];
    const list = operator === 'add' ? [...present, ...value] : present.filter((item) => !given.has(item));
    return list.length === present.length ? [] : [{ op: 'add', path: `${container.pointer}/${field}`, value: list }];
  });
  if (operations.length === 0) return noEffect(object, `container ${containerName} has none of these`);
  return changed(object, yield* patch(object, operations));
}

/** Sets or removes labels or annotations. `replace` and `remove` are for keys that are there. */
export function* overrideMap(
  object: KubeObject,
  field: 'labels' | 'annotations',
  { operator, value }: Overrider<'labelsOverrider'>,
): Steps<OverrideStep> {
  const given = object.metadata?.[field];
  const present = isJsonObject(given) ? given : {};
  const next = yield* copyInSteps(present);
  const absent: string[] = [];
  for (const [index, [key, text]] of Object.entries(value).entries()) {
    if (index > 0 && index % MEMBERS_OF_STEP === 0) yield;
    if (operator !== 'add' && !Object.hasOwn(present, key)) absent.push(`there is no ${key} to ${operator}`);
    else if (operator === 'remove') delete next[key];
    else setMember(next, key, text);
  }
  if (absent.length === Object.keys(value).length) return noEffect(object, ...absent);
  const step = changed(object, yield* patch(object, [{ op: 'add', path: `/metadata/${field}`, value: next }]));
  return { ...step, noEffect: absent };
}

/** Operations of JSON Patch on the object, one after the other. Where one of them cannot be applied, none is. */
export function* overridePlaintext(
  object: KubeObject,
  overriders: readonly Overrider<'plaintext'>[],
): Steps<OverrideStep> {
  const patched = new JsonPatchedDocument(object);
  const faults: (string | undefined)[] = [];
  for (const { operator, ...rest } of overriders) {
    const operation = { op: operator, ...rest };
    yield* patched.prepare(operation);
    faults.push(applyOperation(patched, operation));
  }
  const step = changed(object, { value: patched.value });
  return faults.some((fault) => fault !== undefined) ? { ...step, object, failed: faults } : step;
}

/**
 * Applies one operation of RFC 6902 as the RFC has it: an operation that does not find its target fails. A kube-apiserver is less strict:
 * a missing member is null to it.
 *
 * @returns why the operation cannot be applied. The document is then as it was.
 */
export function applyOperation(document: JsonPatchedDocument, operation: JsonPatchOperation): string | undefined {
  const { op, path, from, value } = operation;
  const isThere = (pointer: string) => valueAtPointer(document.value, parseJsonPointer(pointer) ?? []) !== undefined;
  if (op === 'move' || op === 'copy') {
    if (from === undefined) return `${op} ${path} has no from`;
    if (!isThere(from)) return `there is nothing at ${from} to ${op}`;
    return apply(document, { op, from, path });
  }
  if (op !== 'add' && !isThere(path)) return `there is nothing at ${path} to ${op}`;
  if (op === 'remove') return apply(document, { op, path });
  return value === undefined ? `${op} ${path} has no value` : apply(document, { op, path, value });
}

function apply(document: JsonPatchedDocument, operation: JsonPatchOperation): string | undefined {
  try {
    document.apply(operation);
    return undefined;
  } catch (error) {
    if (error instanceof StatusError) return faultOf(error);
    throw error;
  }
}
