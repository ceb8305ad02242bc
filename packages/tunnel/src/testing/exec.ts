import assert from 'node:assert/strict';
import type { Duplex } from 'node:stream';
import type { Transport, TransportResponse, UpgradeResponse } from '@asterism/client';

/** How a target answers {@link exec} that does as it is asked. */
export const SWITCH =
  'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\nX-Stream-Protocol-Version: v4\r\n\r\n';

export function exec(
  transport: Transport,
  path = '/exec',
  signal?: AbortSignal,
): Promise<UpgradeResponse | TransportResponse> {
  const headers = { Connection: 'Upgrade', Upgrade: 'SPDY/3.1', 'X-Stream-Protocol-Version': ['v5', 'v4'] };
  return transport.upgrade({ method: 'POST', path, headers, ...(signal ? { signal } : {}) });
}

export async function execSocket(transport: Transport, path?: string): Promise<Duplex> {
  const response = await exec(transport, path);
  assert.ok('socket' in response, `status ${response.status}`);
  return response.socket;
}
