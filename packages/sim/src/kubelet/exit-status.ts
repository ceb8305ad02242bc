import { isStatusError, type Status } from '@asterism/machinery';

/** A `Status` without its kind, as kubelets write it to the error stream; its reasons are not only the API's. */
export type CommandStatus = Omit<Status, 'kind' | 'apiVersion' | 'reason'> & { reason?: string };

/** What the error stream of a command says at its end (`v4.channel.k8s.io`), as a kubelet writes it. */
export function exitStatus(command: readonly string[], code: number): CommandStatus {
  if (code === 0) return { metadata: {}, status: 'Success' };
  const text = `error executing command [${command.join(' ')}], exit code ${code}`;
  return {
    metadata: {},
    status: 'Failure',
    message: `command terminated with non-zero exit code: ${text}`,
    reason: 'NonZeroExitCode',
    details: { causes: [{ reason: 'ExitCode', message: String(code) }] },
  };
}

/** How messages begin of what went wrong after a command was accepted. */
export const INTERNAL_ERROR = 'Internal error occurred: ';

/** Of a command that could not be started, or not be run to its end. */
export function failureStatus(error: unknown): CommandStatus {
  const text = error instanceof Error ? error.message : String(error);
  const message =
    isStatusError(error) && text.startsWith(INTERNAL_ERROR)
      ? text.slice(INTERNAL_ERROR.length)
      : `error executing command in container: ${text}`;
  return {
    metadata: {},
    status: 'Failure',
    message: `${INTERNAL_ERROR}${message}`,
    reason: 'InternalError',
    details: { causes: [{ message }] },
    code: 500,
  };
}
