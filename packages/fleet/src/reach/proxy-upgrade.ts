import type { Duplex } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { type Headers, tapBytes, type TransportResponse, type UpgradeResponse } from '@asterism/client';
import { splice } from '@asterism/tunnel';
import { responseHeaders } from './forwarded-headers.ts';

/** Not imported: that would load undici and WebSocket too, 30 ms and 12 MB of a start. */
const { STATUS_CODES } = process.getBuiltinModule('node:http');

/** Told of the bytes behind the heads: from the caller, and to it. */
export interface UpgradeCount {
  onBytesIn: (bytes: number) => void;
  onBytesOut: (bytes: number) => void;
}

/**
 * Gives the caller what the member answered to an HTTP/1.1 upgrade (exec, attach, port-forward): after a 101 every byte both
 * ways until both sides have ended, else the answer. `head` are bytes that came behind the caller's request. Never rejects: a
 * side that breaks takes the other with it.
 */
export async function passUpgrade(
  answer: UpgradeResponse | TransportResponse,
  { socket, head }: { socket: Duplex; head: Uint8Array },
  count: UpgradeCount,
): Promise<void> {
  const headers = responseHeaders(answer.headers);
  if ('socket' in answer) {
    socket.write(formatHead(101, { ...headers, connection: 'Upgrade', upgrade: answer.headers['upgrade'] }));
    if (head.length > 0) answer.socket.write(head);
    count.onBytesIn(head.length);
    // What an HTTP server accepted, or a client dialled, would end its own half as soon as the peer ends one.
    for (const end of [socket, answer.socket]) end.allowHalfOpen = true;
    socket.on('data', (chunk: Uint8Array) => count.onBytesIn(chunk.length));
    answer.socket.on('data', (chunk: Uint8Array) => count.onBytesOut(chunk.length));
    await splice(socket, answer.socket);
    return;
  }
  socket.write(formatHead(answer.status, { ...headers, connection: 'close' }));
  await pipeline(tapBytes(answer.body, { onBytes: count.onBytesOut }), socket).catch(() => {});
}

/** The head of an HTTP/1.1 answer. */
export function formatHead(status: number, headers: Headers): string {
  const lines = Object.entries(headers).flatMap(([name, value]) =>
    value === undefined ? [] : [value].flat().map((each) => `${name}: ${each}\r\n`),
  );
  return `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n${lines.join('')}\r\n`;
}
