import type { TransportRequest } from '../transport.ts';

/** A request that changes nothing, so that it can be sent again although the server may have seen it. */
export function isRead({ method, body }: TransportRequest): boolean {
  return (method === 'GET' || method === 'HEAD') && body === undefined;
}

/** A request whose body is still there to be sent again. */
export function isRepeatable({ body }: TransportRequest): boolean {
  return body === undefined || typeof body === 'string' || body instanceof Uint8Array;
}
