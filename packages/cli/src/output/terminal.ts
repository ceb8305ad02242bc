import { styleText } from 'node:util';

/** Where a command writes: data to `out`, progress and errors to `err`. */
export interface Terminal {
  out(text: string): void;
  err(text: string): void;
  /** Whether `err` is a person's screen, so that lines can be redrawn. */
  readonly interactive: boolean;
  style(format: Parameters<typeof styleText>[0], text: string): string;
  /** Columns of the screen. */
  readonly width: number;
}

export function processTerminal(): Terminal {
  const interactive = process.stderr.isTTY === true && process.env['TERM'] !== 'dumb';
  const coloured = interactive && !process.env['NO_COLOR'];
  return {
    out: (text) => void process.stdout.write(text),
    err: (text) => void process.stderr.write(text),
    interactive,
    style: (format, text) => (coloured ? styleText(format, text, { validateStream: false }) : text),
    get width() {
      return process.stderr.columns ?? 100;
    },
  };
}
