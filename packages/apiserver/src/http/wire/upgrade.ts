import type { Duplex } from 'node:stream';
import type { ApiResponse } from '../../contract/api-request.ts';

/** Not imported: that would load undici and WebSocket too, 30 ms and 12 MB of a start. */
const { STATUS_CODES } = process.getBuiltinModule('node:http');

/** Answers an Upgrade that is not taken with an ordinary HTTP/1.1 answer and ends the connection. A body that breaks cuts it. */
export async function refuseUpgrade(socket: Duplex, response: ApiResponse): Promise<void> {
  if (socket.destroyed || !socket.writable) return;
  const lines = [`HTTP/1.1 ${response.status} ${STATUS_CODES[response.status] ?? ''}`];
  for (const [name, value] of Object.entries(response.headers)) {
    for (const each of [value].flat()) lines.push(`${name}: ${each}`);
  }
  lines.push('connection: close', '', '');
  socket.on('error', () => {});
  socket.write(lines.join('\r\n'));
  try {
    if (response.body instanceof Uint8Array) socket.write(response.body);
    else if (response.body !== undefined) for await (const piece of response.body) socket.write(piece);
    socket.end();
  } catch {
    socket.destroy();
  }
}
