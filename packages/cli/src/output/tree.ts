import { escapeBreaks } from './one-line.ts';

/** Prints a value as `kubectl describe` does: names in words, two spaces a level, lists with dashes. */
export function formatTree(value: Record<string, unknown>, indent = ''): string {
  return Object.entries(value)
    .filter(([, child]) => child !== undefined && child !== null)
    .map(([key, child]) => formatEntry(indent === '' ? title(key) : key, child, indent))
    .join('');
}

const isMap = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const isEmpty = (value: unknown): boolean =>
  Array.isArray(value) ? value.length === 0 : isMap(value) && Object.keys(value).length === 0;

function formatEntry(label: string, value: unknown, indent: string): string {
  const head = `${indent}${escapeBreaks(label)}:`;
  if (isEmpty(value)) return `${head}  <none>\n`;
  if (Array.isArray(value)) return `${head}\n${value.map((item) => formatItem(item, `${indent}  `)).join('')}`;
  if (isMap(value)) return `${head}\n${formatTree(value, `${indent}  `)}`;
  return formatScalar(head, value, indent);
}

function formatScalar(head: string, value: unknown, indent: string): string {
  const text = String(value as string | number | boolean);
  if (!text.includes('\n')) return `${head.padEnd(indent === '' ? 13 : head.length)} ${text}\n`;
  const lines = text
    .trimEnd()
    .split('\n')
    .map((line) => `${indent}  ${line}\n`);
  return `${head} |\n${lines.join('')}`;
}

function formatItem(item: unknown, indent: string): string {
  if (!isMap(item)) return `${indent}- ${typeof item === 'string' ? escapeBreaks(item) : JSON.stringify(item)}\n`;
  const [first, ...rest] = formatTree(item, `${indent}  `).split(/(?<=\n)/);
  return `${indent}- ${(first ?? '').trimStart()}${rest.join('')}`;
}

/** `clusterIPs` → `Cluster IPs`. */
function title(key: string): string {
  const words = key.replaceAll(/([a-z])([A-Z])/g, '$1 $2');
  return words.charAt(0).toUpperCase() + words.slice(1);
}
