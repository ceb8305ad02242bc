import { parseJson, readJson } from '@asterism/machinery';
import type { Change } from './override-step.ts';

/** A text as it became, or in words why it cannot. */
export type TextEdit = { text: string } | { fault: string };

/**
 * Changes what a JSON text says. It keeps its indentation; its numbers stay as they are written, also those that JavaScript cannot
 * hold: to `change` these are symbols.
 */
export function editJsonText(text: string, change: (value: unknown) => Change): TextEdit {
  if (!isJson(text)) return { fault: 'is not JSON' };
  const value = readJson(text, { number: numberOrSymbol });
  const edited = change(value);
  if ('fault' in edited) return edited;
  if (edited.value === value) return { text };
  const indent = /\n([ \t]+)\S/.exec(text)?.[1];
  const end = text.slice(text.trimEnd().length);
  return { text: JSON.stringify(edited.value, writeSymbol, indent) + end };
}

function isJson(text: string): boolean {
  try {
    parseJson(text);
    return true;
  } catch (error) {
    if (error instanceof SyntaxError) return false;
    throw error;
  }
}

function numberOrSymbol(source: string): number | symbol {
  const number = Number(source);
  return String(number) === source ? number : Symbol(source);
}

function writeSymbol(_key: string, value: unknown): unknown {
  // Not among TypeScript's own types yet.
  const { rawJSON } = JSON as typeof JSON & { rawJSON: (text: string) => object };
  return typeof value === 'symbol' ? rawJSON(value.description ?? '') : value;
}
