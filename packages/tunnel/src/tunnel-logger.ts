/** The part of a logger that the tunnel uses; runtime's and pino's fit. */
export interface TunnelLogger {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
}
