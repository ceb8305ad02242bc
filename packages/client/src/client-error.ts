/**
 * Why no answer came. `code` is the system's (`ECONNREFUSED`, `ENOTFOUND`, `CERT_HAS_EXPIRED`, …) or one of ours (`ERR_…`);
 * the message names the server and, where one is known, the remedy.
 */
export class ClientError extends Error {
  override readonly name = 'ClientError';
  readonly code: string;
  /** `https://host:port`; undefined where no server was involved. */
  readonly server: string | undefined;

  constructor(message: string, details: { code: string; server?: string | undefined; cause?: unknown }) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.code = details.code;
    this.server = details.server;
  }
}
