import { rawJson } from './raw-json.ts';
import type { Answer } from './send-request.ts';

/** What `{{steps.N.…}}` reads from: the answers so far, by the number of their step. */
export type Answers = readonly (Partial<Answer> | undefined)[];

const TEMPLATE = /\{\{([^}]+)\}\}/g;

/**
 * `value` with each `{{steps.N.body.a.0.b}}` in its strings replaced by what this server answered there. A string that is
 * one template becomes the value itself, of any type.
 */
export function fillTemplates<T>(value: T, answers: Answers): T {
  return fill(value, answers) as T;
}

function fill(value: unknown, answers: Answers): unknown {
  if (typeof value === 'string') return fillText(value, answers);
  if (Array.isArray(value)) return value.map((item) => fill(item, answers));
  if (typeof value !== 'object' || value === null || rawJson.isRawJSON(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, fill(item, answers)]));
}

function fillText(text: string, answers: Answers): unknown {
  const whole = /^\{\{([^}]+)\}\}$/.exec(text)?.[1];
  if (whole !== undefined) return valueAt(whole, answers);
  return text.replace(TEMPLATE, (_, path: string) => String(valueAt(path, answers)));
}

function valueAt(path: string, answers: Answers): unknown {
  let value: unknown = { steps: answers };
  for (const key of path.split('.')) {
    if (typeof value !== 'object' || value === null) return undefined;
    value = (value as Record<string, unknown>)[key];
  }
  return value;
}
