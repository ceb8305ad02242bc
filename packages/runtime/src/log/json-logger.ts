import { type Clock, systemClock } from '@asterism/client';
import { escapeControls } from '@asterism/machinery';
import type { Logger } from './logger.ts';

/**
 * How much a line matters.
 *
 * @example {@link createJsonLogger}
 */
export type LogLevel = 'debug' | 'info' | 'warn' | 'error';

/**
 * What is written, and where to.
 *
 * @example {@link createJsonLogger}
 */
export interface JsonLoggerOptions {
  /** What is less than this is not written. Default `info`. */
  level?: LogLevel | undefined;
  /** Takes a line, with its end. Default: to stderr. */
  write?: ((line: string) => void) | undefined;
  clock?: Clock | undefined;
}

const RANKS: Readonly<Record<LogLevel, number>> = { debug: 0, info: 1, warn: 2, error: 3 };
/** Errors that caused one another, down to here. */
const DEEPEST_CAUSE = 3;

/**
 * Writes a line of JSON for each message: `time`, `level`, `msg` and the fields, those of `child` among them. An `err` is
 * written with its name, message, code, stack and cause. A line holds no control characters, also where it repeats what others sent. It never throws.
 *
 * @example
 * ```ts
 * const logger = createJsonLogger({ level: 'debug' });
 * logger.child({ cluster: 'paris' }).info({ pods: 3 }, 'counted');
 * const manager = createManager({ client, logger });
 * ```
 */
export function createJsonLogger(options: JsonLoggerOptions = {}): Logger {
  const { level: least = 'info', write = (line) => void process.stderr.write(line), clock = systemClock } = options;
  const create = (bound: object): Logger => {
    const at = (level: LogLevel): Logger['info'] => {
      if (RANKS[level] < RANKS[least]) return () => {};
      return (fields, msg) => {
        const line = { time: clock.wall().toISOString(), level, msg, ...bound, ...fields };
        write(`${escapeControls(toJson(line))}\n`);
      };
    };
    return {
      debug: at('debug'),
      info: at('info'),
      warn: at('warn'),
      error: at('error'),
      child: (fields) => create({ ...bound, ...fields }),
    };
  };
  return create({});
}

function toJson(line: { time: string; level: LogLevel; msg: string }): string {
  try {
    return JSON.stringify(line, (_, value: unknown) => {
      if (value instanceof Error) return describeError(value, DEEPEST_CAUSE);
      return typeof value === 'bigint' ? String(value) : value;
    });
  } catch (error) {
    // A field refers to itself, or its toJSON throws: the message counts more than the fields.
    const { time, level, msg } = line;
    return JSON.stringify({ time, level, msg, fieldsLost: String(error) });
  }
}

/** Not all of its fields: what else hangs on an error, such as a request with its headers, is nobody's business. */
function describeError(error: Error, depth: number): object {
  const { name, message, stack, cause } = error;
  const { code } = error as { code?: unknown };
  const causedBy = cause instanceof Error && depth > 0 ? describeError(cause, depth - 1) : undefined;
  return { name, message, code, stack, cause: causedBy };
}
