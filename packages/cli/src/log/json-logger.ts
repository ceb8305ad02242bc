import type { Logger } from '@asterism/runtime';
import { escapeControls } from '@asterism/machinery';
import { CommandError, EXIT } from '../exit-code.ts';
import { standardErrorFd } from '../output/terminal.ts';

/** What waits, in bytes, while the disk takes nothing; what comes then is lost. */
const HELD_BACK = 1 << 20;

const LEVELS = ['debug', 'info', 'warn', 'error'];

/** A log of JSON lines in a file that only its owner reads. */
export function fileLogger(file: string): Promise<Logger> {
  return jsonLogger({ dest: file, mkdir: true, mode: 0o600 });
}

/** A log of JSON lines on stderr, for whoever runs the service to keep. */
export function stderrLogger(): Promise<Logger> {
  return jsonLogger({ dest: standardErrorFd() });
}

/**
 * A line holds no control characters, also where it repeats what others sent: its JSON is the same without them.
 *
 * A disk that is full stops nobody: lines wait for space, and are written with the next one. Nor does a pipe that nobody reads
 * from any more: its lines are lost. `ASTERISM_LOG_LEVEL`: debug, info (default), warn, error; another rejects as wrong usage.
 */
async function jsonLogger(to: { dest: string | number; mkdir?: boolean; mode?: number }): Promise<Logger> {
  const { pino } = await import('pino');
  const level = process.env['ASTERISM_LOG_LEVEL'] || 'info';
  if (!LEVELS.includes(level)) {
    throw new CommandError(`ASTERISM_LOG_LEVEL: ${JSON.stringify(level)} is not ${LEVELS.join(', ')}`, EXIT.usage);
  }
  const destination = pino.destination({ ...to, sync: true, maxLength: HELD_BACK });
  // A failed write is told as an event that, unheard, ends the process.
  destination.on('error', () => {});
  const logger: Logger = pino({ level, base: null, hooks: { streamWrite: escapeControls } }, destination);
  return logger;
}
