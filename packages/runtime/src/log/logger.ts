/**
 * What parts that run for long tell about themselves. A pino logger fits.
 *
 * @example {@link createJsonLogger}
 */
export interface Logger {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
  child(fields: object): Logger;
}

/**
 * Says nothing.
 *
 * @example
 * ```ts
 * const manager = createManager({ client, logger: silentLogger });
 * ```
 */
export const silentLogger: Logger = {
  debug: () => {},
  info: () => {},
  warn: () => {},
  error: () => {},
  child: () => silentLogger,
};
