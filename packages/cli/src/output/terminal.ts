import { randomInt } from 'node:crypto';
import { writeSync } from 'node:fs';
import { styleText } from 'node:util';
import { escapeControls } from '@asterism/machinery';

/**
 * Where a command writes: data to `out`, progress and errors to `err`.
 *
 * - (T1) Whatever is written has its control characters escaped, whoever it comes from: names, messages and statuses of members reach
 *   a screen, often by way of a pipe. JSON and YAML keep their meaning (see `escapeControls`).
 * - (T2) Only `style` and `sequence` make sequences that the terminal acts on. They carry a number that nobody else knows and that `out`
 *   and `err` take away.
 * - (T3) Nothing else in this package writes to the standard streams: a lint rule refuses it. Bytes that must stay as they are, those of
 *   `exec` and of logs in a pipe, go through `StandardStreams`.
 */
export interface Terminal {
  out(text: string): void;
  err(text: string): void;
  /** Whether `err` is a person's screen, so that lines can be redrawn. */
  readonly interactive: boolean;
  style(format: Parameters<typeof styleText>[0], text: string): string;
  /** A control sequence (CSI) of our own, as `2K`. */
  sequence(code: string): string;
  /** Columns of the screen. */
  readonly width: number;
}

export interface TerminalOptions {
  out(text: string): void;
  err(text: string): void;
  interactive: boolean;
  coloured: boolean;
  width: () => number;
}

const CSI = '\u001b[';
/** No text holds it: `styleText` puts its sequences around it. */
const BETWEEN = '\0';

export function createTerminal({ out, err, interactive, coloured, width }: TerminalOptions): Terminal {
  // Digits alone, so that it is a parameter of the sequence for whoever measures a text.
  const own = `${CSI}${Array.from({ length: 4 }, () => randomInt(10_000, 100_000)).join('')};`;
  const shown = (text: string): string => text.split(own).map(escapeControls).join(CSI);
  return {
    out: (text) => out(shown(text)),
    err: (text) => err(shown(text)),
    interactive,
    style(format, text) {
      if (!coloured) return text;
      const [open = '', close = ''] = styleText(format, BETWEEN, { validateStream: false })
        .replaceAll(CSI, own)
        .split(BETWEEN);
      return open + text + close;
    },
    sequence: (code) => own + code,
    get width() {
      return width();
    },
  };
}

export function processTerminal(): Terminal {
  const interactive = process.stderr.isTTY === true && process.env['TERM'] !== 'dumb';
  return createTerminal({
    out: (text) => void process.stdout.write(text),
    err: (text) => void process.stderr.write(text),
    interactive,
    coloured: interactive && !process.env['NO_COLOR'],
    width: () => process.stderr.columns ?? 100,
  });
}

/** Calls back when stdout cannot be written to. A stderr that nobody reads is no failure. */
export function onOutputFailure(failed: (error: NodeJS.ErrnoException) => void): void {
  process.stdout.on('error', failed);
  process.stderr.on('error', () => {});
}

/** Writes a line to stdout at once, past every buffer. Throws where that cannot be. */
export function writeLineNow(line: string): void {
  writeSync(process.stdout.fd, `${escapeControls(line)}\n`);
}

/** For logs, which escape by themselves. */
export const standardErrorFd = (): number => process.stderr.fd;
