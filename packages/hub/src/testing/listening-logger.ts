import type { Logger } from '@asterism/runtime';

export interface Logged {
  line: Record<string, unknown>;
  message: string;
}

/** A logger that keeps what it is told. */
export function listeningLogger(logged: Logged[]): Logger {
  const tell = (line: unknown, message: unknown): void => {
    if (typeof line === 'object' && line !== null) logged.push({ line: { ...line }, message: String(message) });
  };
  const logger = { trace: tell, debug: tell, info: tell, warn: tell, error: tell, fatal: tell, child: () => logger };
  return logger as unknown as Logger;
}
