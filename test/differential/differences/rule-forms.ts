import { isJsonObject } from '@asterism/machinery';
import type { FieldChange, Fields } from '../objects/generated-kind.ts';
import { eachCause } from './causes.ts';
import { type AnswerPair, holdersOf, type KnownDifference, managedFieldsOf } from './known-difference.ts';

/** A field with a default that the kinds did not have in 1.20; dotted, `*` for every item. */
export function fieldAdded(kinds: readonly string[], [path, value]: FieldChange, reason: string): KnownDifference {
  const keys = path.split('.');
  const key = keys.at(-1) ?? '';
  return {
    name: `${kinds.join(', ')}: ${path} ${JSON.stringify(value)}`,
    reason,
    object({ real, own }, kind) {
      if (!kinds.includes(kind)) return false;
      const held = holdersOf(own, keys);
      const added = holdersOf(real, keys).filter((holder, index) => {
        const mine = held[index];
        if (key in holder || mine === undefined || !(key in mine)) return false;
        holder[key] = structuredClone(value);
        return true;
      });
      if (added.length === 0) return false;
      for (const fields of managedFieldsOf(own)) forget(fields, keys);
      return true;
    },
  };
}

/** Takes `f:` of the path out of a field set, wherever its list items are. */
function forget(fields: Fields, [key = '', ...rest]: readonly string[]): void {
  if (key === '*') {
    for (const item of Object.values(fields)) if (isJsonObject(item)) forget(item, rest);
    return;
  }
  const name = `f:${key}`;
  const below = fields[name];
  if (rest.length === 0) delete fields[name];
  else if (isJsonObject(below)) forget(below, rest);
}

/** As `String.replace` takes it. */
type Replacement = string | ((found: string, ...groups: string[]) => string);

/** Words of messages, of a Status and of its causes, that were changed. `pattern` is global. */
export function messageChanged(pattern: RegExp, replacement: Replacement, reason: string): KnownDifference {
  return {
    name: `message ${pattern.source}`,
    reason,
    answer({ real: { body } }) {
      if (!isJsonObject(body)) return false;
      return eachMessage(body, (text) => text.replace(pattern, replacement as string));
    },
  };
}

/** What is worded so differently that only that it is there is compared. */
export function bothMessages(name: string, reason: string, pattern: RegExp, replacement: Replacement): KnownDifference {
  return {
    name,
    reason,
    answer({ real, own }: AnswerPair) {
      const before = JSON.stringify(real['body']);
      for (const { body } of [real, own])
        if (isJsonObject(body)) eachMessage(body, (text) => text.replace(pattern, replacement as string));
      return JSON.stringify(real['body']) !== before;
    },
  };
}

/** Changes the message of a Status and of each of its causes. Returns whether one of them became another. */
export function eachMessage(status: Fields, change: (message: string) => string): boolean {
  if (status['kind'] !== 'Status') return false;
  const causes = isJsonObject(status['details']) ? status['details']['causes'] : undefined;
  const holders = [status, ...(Array.isArray(causes) ? causes.filter(isJsonObject) : [])];
  return holders
    .map((holder) => {
      const { message } = holder;
      if (typeof message !== 'string') return false;
      holder['message'] = change(message);
      return holder['message'] !== message;
    })
    .includes(true);
}

/** The field that causes name, and the beginning of its part of the message. */
export function fieldRenamed(pattern: RegExp, name: string, reason: string): KnownDifference {
  return {
    name: `field ${pattern.source}`,
    reason,
    answer: ({ real: { body } }) =>
      eachCause(body, (cause) => {
        const field = String(cause['field']);
        if (!pattern.test(field) || !isJsonObject(body)) return false;
        const renamed = field.replace(pattern, name);
        cause['field'] = renamed;
        body['message'] = String(body['message']).replaceAll(`${field}: `, `${renamed}: `);
        return true;
      }),
  };
}

/** Structs and maps of these names that one manager owns as a whole since; 1.20 tells their fields apart. */
export function becameAtomic(names: readonly string[], reason: string): KnownDifference {
  const keys = new Set(names.map((name) => `f:${name}`));
  const cut = (fields: Fields): boolean => {
    let changed = false;
    for (const [key, value] of Object.entries(fields)) {
      if (!isJsonObject(value)) continue;
      if (keys.has(key)) {
        changed ||= Object.keys(value).length > 0;
        fields[key] = {};
      } else if (cut(value)) changed = true;
    }
    return changed;
  };
  return {
    name: `atomic ${names.join(', ')}`,
    reason,
    object: ({ real }) => managedFieldsOf(real).map(cut).includes(true),
  };
}
