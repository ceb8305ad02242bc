import { type Duplex, Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import {
  type Headers,
  relayedAnswer,
  relayedSwitch,
  type RelayOptions,
  tapBytes,
  type TransportResponse,
  type UpgradeResponse,
} from '@asterism/client';
import { splice } from '@asterism/tunnel';

/** Not imported: that would load undici and WebSocket too, 30 ms and 12 MB of a start. */
const { STATUS_CODES } = process.getBuiltinModule('node:http');

/** Told of the bytes behind the heads: from the caller, and to it. */
export interface UpgradeCount {
  onBytesIn: (bytes: number) => void;
  onBytesOut: (bytes: number) => void;
  /** Called before the head of the answer is written. */
  onAnswered: (status: number) => void;
}

export interface UpgradeCaller {
  socket: Duplex;
  /** What came behind the request. */
  head: Uint8Array;
  /** The header `upgrade` of the request, and how an answer may be passed on. */
  asked: RelayOptions & { protocols: Headers[string] };
}

/**
 * Gives the caller what the member answered to an HTTP/1.1 upgrade (exec, attach, port-forward): after a 101 every byte both
 * ways until both sides have ended, else the answer. `head` are bytes that came behind the caller's request. A side that breaks
 * takes the other with it. Rejects, with nothing written, for an answer that cannot be passed on.
 */
export async function passUpgrade(
  answer: UpgradeResponse | TransportResponse,
  { socket, head, asked }: UpgradeCaller,
  count: UpgradeCount,
): Promise<void> {
  if ('socket' in answer) {
    const headers = relayedSwitch(answer, asked.protocols);
    count.onAnswered(101);
    socket.write(formatHead(101, headers));
    if (head.length > 0) answer.socket.write(head);
    count.onBytesIn(head.length);
    // What an HTTP server accepted, or a client dialled, would end its own half as soon as the peer ends one.
    for (const end of [socket, answer.socket]) end.allowHalfOpen = true;
    socket.on('data', (chunk: Uint8Array) => count.onBytesIn(chunk.length));
    answer.socket.on('data', (chunk: Uint8Array) => count.onBytesOut(chunk.length));
    await splice(socket, answer.socket);
    return;
  }
  const { status, headers, body, bytes } = relayedAnswer(answer, asked);
  count.onAnswered(status);
  socket.write(formatHead(status, { ...headers, connection: 'close' }));
  const sent = tapBytes(bytes ? Readable.from([bytes], { objectMode: false }) : body, { onBytes: count.onBytesOut });
  await pipeline(sent, socket).catch(() => {});
}

/** The head of an HTTP/1.1 answer. */
export function formatHead(status: number, headers: Headers): string {
  const lines = Object.entries(headers).flatMap(([name, value]) =>
    value === undefined ? [] : [value].flat().map((each) => `${name}: ${each}\r\n`),
  );
  return `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n${lines.join('')}\r\n`;
}
