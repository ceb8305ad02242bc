import type { Shell } from './shell.ts';

/** `$?` and its like, and the size of the terminal; undefined for an ordinary variable. */
export function specialParameter(shell: Shell, name: string): string | undefined {
  const size = shell.streams.stdin.terminal?.size;
  switch (name) {
    case '?':
      return String(shell.status);
    case '$':
      return String(shell.root);
    case '#':
      return String(shell.positional.length);
    case '!':
      return shell.lastJob?.toString();
    case '-':
      return [...shell.state.flags].join('');
    case '0':
      return shell.state.name;
    case 'COLUMNS':
      return size?.columns.toString();
    case 'LINES':
      return size?.rows.toString();
    default:
      return undefined;
  }
}
