import { isStatusError } from '@asterism/machinery';
import { escapeBreaks } from './output/one-line.ts';

/** What `aster` ends with; scripts branch on it. */
export const EXIT = {
  fine: 0,
  error: 1,
  usage: 2,
  /** Of `aster diff`, where 1 says that there are differences. */
  undecided: 3,
  forbidden: 4,
  partial: 5,
  denied: 6,
  timeout: 8,
  interrupted: 130,
} as const;

/** An outcome that ends the command: a line for stderr and the code to end with. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
  readonly exitCode: number;

  /** Further lines. Line breaks of the message itself are escaped. */
  readonly lines: readonly string[];

  constructor(
    message: string,
    exitCode: number = EXIT.error,
    options?: ErrorOptions & { lines?: readonly string[] | undefined },
  ) {
    super(message, options);
    this.exitCode = exitCode;
    this.lines = options?.lines ?? [];
  }
}

/** The code for an error that nobody foresaw in particular. */
export function exitCodeOf(error: unknown): number {
  if (error instanceof CommandError) return error.exitCode;
  if (isStatusError(error, 'Forbidden')) return EXIT.forbidden;
  if (isStatusError(error, 'Timeout')) return EXIT.timeout;
  return EXIT.error;
}

const CUT_OFF =
  ': it was cut off on its way, or something other than an API server answered. Try again, and check the address in the kubeconfig';

/** Text for a person: kubectl's form for what a server said, the message itself for all else. One line, unless a command has more. */
export function describeError(error: unknown): string {
  const further = error instanceof CommandError ? error.lines : [];
  return [textOf(error), ...further].map(escapeBreaks).join('\n');
}

function textOf(error: unknown): string {
  if (isStatusError(error)) {
    // Then it was no API server that spoke, and the message says who did.
    const causes = error.status.details?.causes ?? [];
    if (causes.some(({ reason }) => reason === 'UnexpectedServerResponse')) return error.message;
    return `Error from server (${error.reason}): ${error.message}`;
  }
  if (!(error instanceof Error)) return String(error);
  return 'code' in error && error.code === 'ERR_NOT_JSON' ? error.message + CUT_OFF : error.message;
}
