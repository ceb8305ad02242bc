import type { Clock } from '../clock.ts';
import { ClientError } from '../client-error.ts';
import type { TransportRequest } from '../transport.ts';

/** Starts the wait for the head of an answer; returns what stops it. A `long` request may wait for as long as it likes. */
export type ResponseTimer = (request: TransportRequest, onTimeout: (error: ClientError) => void) => () => void;

export function createResponseTimer(clock: Clock, timeoutMs: number, server: string): ResponseTimer {
  const start: ResponseTimer = (request, onTimeout) => {
    const path = request.path.replace(/\?.*/, '');
    const giveUp = (): void => {
      const message = `${server} took ${request.method} ${path} and did not answer within ${timeoutMs} ms`;
      onTimeout(new ClientError(message, { code: 'ERR_RESPONSE_TIMEOUT', server }));
    };
    return clock.setTimer(giveUp, timeoutMs, { background: true });
  };
  // Nothing of a watch is held by what there is not to stop.
  return (request, onTimeout) => (request.long ? nothing : start(request, onTimeout));
}

function nothing(): void {}
