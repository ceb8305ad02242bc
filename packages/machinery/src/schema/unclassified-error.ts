import { StatusError } from '../status.ts';

/** A failure to which a kube-apiserver gives no reason of its own: 500 and the bare message. */
export function unclassifiedError(message: string): StatusError {
  return new StatusError({ kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', message, code: 500 });
}
