import type { Logger } from '@asterism/runtime';

/** What waits, in bytes, while the disk takes nothing; what comes then is lost. */
const HELD_BACK = 1 << 20;

/**
 * A log of JSON lines in a file that only its owner reads. A disk that is full stops nobody: lines wait for space, and are
 * written with the next one. `ASTERISM_LOG_LEVEL`: debug, info (default), warn, error.
 */
export async function fileLogger(file: string): Promise<Logger> {
  const { pino } = await import('pino');
  const level = process.env['ASTERISM_LOG_LEVEL'] ?? 'info';
  const destination = pino.destination({ dest: file, mkdir: true, mode: 0o600, sync: true, maxLength: HELD_BACK });
  // A failed write is told as an event that, unheard, ends the process.
  destination.on('error', () => {});
  const logger: Logger = pino({ level, base: null }, destination);
  return logger;
}
