import {
  isJsonObject,
  type JsonPatchOperation,
  type KubeObject,
  parseJsonPointer,
  setMember,
  valueAtPointer,
} from '@asterism/machinery';
import type { Overriders } from '../../api/index.ts';
import { containersOf } from './containers.ts';
import { type Change, changed, noEffect, type OverrideStep, patch } from './override-step.ts';

type Overrider<K extends keyof Overriders> = NonNullable<Overriders[K]>[number];

/** Appends to, or takes out of, the `command` or the `args` of the container of that name, wherever the object runs pods. */
export function overrideList(
  object: KubeObject,
  field: 'command' | 'args',
  { containerName, operator, value }: Overrider<'argsOverrider'>,
): OverrideStep {
  const containers = containersOf(object).filter(({ name }) => name === containerName);
  if (containers.length === 0) return noEffect(object, `there is no container ${containerName}`);
  if (value.length === 0) return noEffect(object, `there is nothing to ${operator}`);
  const operations = containers.flatMap((container): JsonPatchOperation[] => {
    const present = container[field];
    const list = operator === 'add' ? [...present, ...value] : present.filter((item) => !value.includes(item));
    return list.length === present.length ? [] : [{ op: 'add', path: `${container.pointer}/${field}`, value: list }];
  });
  if (operations.length === 0) return noEffect(object, `container ${containerName} has none of these`);
  return changed(object, patch(object, operations));
}

/** Sets or removes labels or annotations. `replace` and `remove` are for keys that are there. */
export function overrideMap(
  object: KubeObject,
  field: 'labels' | 'annotations',
  { operator, value }: Overrider<'labelsOverrider'>,
): OverrideStep {
  const given = object.metadata?.[field];
  const present = isJsonObject(given) ? given : {};
  const next = { ...present };
  const absent: string[] = [];
  for (const [key, text] of Object.entries(value)) {
    if (operator !== 'add' && !Object.hasOwn(present, key)) absent.push(`there is no ${key} to ${operator}`);
    else if (operator === 'remove') delete next[key];
    else setMember(next, key, text);
  }
  if (absent.length === Object.keys(value).length) return noEffect(object, ...absent);
  const step = changed(object, patch(object, [{ op: 'add', path: `/metadata/${field}`, value: next }]));
  return { ...step, noEffect: absent };
}

/** One operation of JSON Patch on the object. */
export function overridePlaintext(object: KubeObject, { operator, ...rest }: Overrider<'plaintext'>): OverrideStep {
  return changed(object, applyOperation(object, { op: operator, ...rest }));
}

/**
 * One operation of RFC 6902 as the RFC has it: what it must find and does not is a fault, which is stricter than a kube-apiserver,
 * for which a member that is not there is null.
 */
export function applyOperation(document: unknown, operation: JsonPatchOperation): Change {
  const { op, path, from, value } = operation;
  const isThere = (pointer: string) => valueAtPointer(document, parseJsonPointer(pointer) ?? []) !== undefined;
  if (op === 'move' || op === 'copy') {
    if (from === undefined) return { fault: `${op} ${path} has no from` };
    if (!isThere(from)) return { fault: `there is nothing at ${from} to ${op}` };
    return patch(document, [{ op, from, path }]);
  }
  if (op !== 'add' && !isThere(path)) return { fault: `there is nothing at ${path} to ${op}` };
  if (op === 'remove') return patch(document, [{ op, path }]);
  return value === undefined ? { fault: `${op} ${path} has no value` } : patch(document, [{ op, path, value }]);
}
