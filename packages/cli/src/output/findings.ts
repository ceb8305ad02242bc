import type { Finding } from '@asterism/fleet/join';
import { escapeBreaks } from './one-line.ts';
import type { Terminal } from './terminal.ts';

const SIGNS: Record<Finding['state'], { sign: string; style: 'green' | 'yellow' | 'red' }> = {
  Fine: { sign: 'ok', style: 'green' },
  Remark: { sign: 'note', style: 'yellow' },
  Fault: { sign: 'FAULT', style: 'red' },
};

/** One line a finding: how it is, what was looked at, what was found, and after an arrow what to do. */
export function formatFinding({ state, check, message, remedy }: Finding, style: Terminal['style']): string {
  const { sign, style: colour } = SIGNS[state];
  const text = message.replaceAll(/\s+/g, (blanks) => (blanks.includes('\n') ? ' ' : blanks));
  const rest = `${check}: ${text}${remedy === undefined ? '' : ` -> ${remedy}`}`;
  return `${style(colour, sign.padEnd(5))} ${escapeBreaks(rest)}\n`;
}
