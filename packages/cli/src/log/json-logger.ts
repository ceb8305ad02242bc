import { mkdirSync, openSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { systemClock } from '@asterism/client';
import { createJsonLogger, type Logger, type LogLevel } from '@asterism/runtime';
import { CommandError, EXIT } from '../exit-code.ts';
import { standardErrorFd } from '../output/terminal.ts';
import { lineWriter } from './line-writer.ts';

const LEVELS: readonly LogLevel[] = ['debug', 'info', 'warn', 'error'];

/** Logs JSON lines to a file that only its owner reads. Throws wrong usage for an unknown `ASTERISM_LOG_LEVEL`. */
export function fileLogger(file: string): Logger {
  mkdirSync(dirname(file), { recursive: true });
  return jsonLogger(openSync(file, 'a', 0o600));
}

/** Logs JSON lines to stderr, where the service manager collects them. Throws wrong usage for an unknown `ASTERISM_LOG_LEVEL`. */
export function stderrLogger(): Logger {
  return jsonLogger(standardErrorFd());
}

function jsonLogger(fd: number): Logger {
  const text = process.env['ASTERISM_LOG_LEVEL'] || 'info';
  const level = LEVELS.find((known) => known === text);
  if (level === undefined) {
    throw new CommandError(`ASTERISM_LOG_LEVEL: ${JSON.stringify(text)} is not ${LEVELS.join(', ')}`, EXIT.usage);
  }
  return createJsonLogger({ level, write: lineWriter((bytes) => writeSync(fd, bytes), systemClock) });
}
