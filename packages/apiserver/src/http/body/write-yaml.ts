import { formatGoNumber } from '@asterism/machinery';
import { yamlString } from './yaml-scalar.ts';

/** A JSON value as YAML, letter for letter as upstream's answers are (sigs.k8s.io/yaml): sorted, lists not indented, folded. */
export function writeYaml(value: unknown): string {
  const lines: string[] = [];
  if (isFilled(value)) writeInto(lines, value, 0, '');
  else lines.push(scalar(value, 2, 0));
  return `${lines.join('\n')}\n`;
}

type Filled = readonly unknown[] | Readonly<Record<string, unknown>>;

function isFilled(value: unknown): value is Filled {
  return typeof value === 'object' && value !== null && Object.keys(value).length > 0;
}

/** @param first stands before the first line, instead of its indentation */
function writeInto(lines: string[], value: Filled, indent: number, first: string): void {
  let margin = first;
  const rest = ' '.repeat(indent);
  if (Array.isArray(value)) {
    for (const item of value as readonly unknown[]) {
      if (isFilled(item)) writeInto(lines, item, indent + 2, `${margin}- `);
      else lines.push(`${margin}- ${scalar(item, indent + 2, indent + 2)}`);
      margin = rest;
    }
    return;
  }
  const entries = Object.entries(value).filter(([, member]) => member !== undefined);
  for (const [name, member] of entries.sort(([a], [b]) => compareKeys(a, b))) {
    const key = `${margin}${yamlString(name, { indent: 0, column: indent, isKey: true })}:`;
    margin = rest;
    if (!isFilled(member)) lines.push(`${key} ${scalar(member, indent + 2, key.length + 1)}`);
    else {
      lines.push(key);
      const inner = Array.isArray(member) ? indent : indent + 2;
      writeInto(lines, member, inner, ' '.repeat(inner));
    }
  }
}

function scalar(value: unknown, indent: number, column: number): string {
  if (typeof value === 'string') return yamlString(value, { indent, column, isKey: false });
  if (typeof value === 'number') return formatGoNumber(value);
  if (typeof value === 'boolean') return String(value);
  return value === null || value === undefined ? 'null' : Array.isArray(value) ? '[]' : '{}';
}

/** go-yaml's order of keys: letters behind other signs, numbers by their size. */
export function compareKeys(left: string, right: string): number {
  const a = Array.from(left);
  const b = Array.from(right);
  const start = a.findIndex((character, i) => character !== b[i]);
  if (start < 0 || start >= b.length) return a.length - b.length;
  const isLetter = (text: string[]): boolean => /\p{L}/u.test(text[start]!);
  if (isLetter(a) || isLetter(b)) {
    if (isLetter(a) !== isLetter(b)) return isLetter(b) ? -1 : 1;
    return a[start]! < b[start]! ? -1 : 1;
  }
  const behindDigits = (a[start] === '0' || b[start] === '0') && endsInNumber(a.slice(0, start));
  const lead = behindDigits ? '1' : '';
  const digits = (text: string[]): string => /^\d*/.exec(text.slice(start).join(''))![0];
  const difference = Number(lead + digits(a)) - Number(lead + digits(b));
  if (difference !== 0) return difference;
  if (digits(a).length !== digits(b).length) return digits(a).length - digits(b).length;
  return a[start]! < b[start]! ? -1 : 1;
}

/** Whether the digits at the end are not all zero. */
function endsInNumber(characters: readonly string[]): boolean {
  const last = characters.findLast((character) => character !== '0');
  return last !== undefined && /^[1-9]$/.test(last);
}
