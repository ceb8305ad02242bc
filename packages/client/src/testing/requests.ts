import assert from 'node:assert/strict';
import { ClientError } from '../client-error.ts';
import type { TransportRequest, TransportResponse } from '../transport.ts';

export function get(path: string, more: Partial<TransportRequest> = {}): TransportRequest {
  return { method: 'GET', path, ...more };
}

export async function text({ body }: TransportResponse): Promise<string> {
  return Buffer.concat(await body.toArray()).toString();
}

/** For `assert.rejects`: a `ClientError` of this code. */
export function failsWith(code: string, message = /./): (error: unknown) => true {
  return (error) => {
    assert.ok(error instanceof ClientError, String(error));
    assert.match(error.message, message);
    assert.equal(error.code, code);
    return true;
  };
}
