import type { Duplex } from 'node:stream';
import { once } from 'node:events';

export interface UpgradeAnswer {
  status: number;
  headers: Map<string, string>;
  /** What came behind the header: the body of a refusal, or the first bytes of the protocol. */
  rest: Buffer;
}

/** Writes a request by hand and reads the header of its answer. */
export async function askUpgrade(
  socket: Duplex,
  request: { method?: string; path: string; headers: Record<string, string> },
): Promise<UpgradeAnswer> {
  const lines = Object.entries({ host: 'localhost', ...request.headers }).map(([name, value]) => `${name}: ${value}`);
  socket.write([`${request.method ?? 'POST'} ${request.path} HTTP/1.1`, ...lines, '', ''].join('\r\n'));
  let bytes = Buffer.alloc(0);
  while (!bytes.includes('\r\n\r\n')) {
    const chunk = socket.read() as Buffer | null;
    if (chunk === null) await once(socket, 'readable');
    else bytes = Buffer.concat([bytes, chunk]);
  }
  const end = bytes.indexOf('\r\n\r\n');
  const [start = '', ...rows] = bytes.toString('latin1', 0, end).split('\r\n');
  const headers = new Map(rows.map((row) => [row.split(': ', 1)[0]!.toLowerCase(), row.slice(row.indexOf(': ') + 2)]));
  const rest = bytes.subarray(end + 4);
  if (!start.includes(' 101 '))
    return { status: Number(start.split(' ')[1]), headers, rest: await readBody(socket, headers, rest) };
  if (rest.length > 0) socket.unshift(rest);
  return { status: 101, headers, rest };
}

async function readBody(socket: Duplex, headers: Map<string, string>, start: Buffer): Promise<Buffer> {
  const length = Number(headers.get('content-length') ?? 0);
  let body = start;
  while (body.length < length) {
    const chunk = socket.read() as Buffer | null;
    if (chunk === null) await once(socket, 'readable');
    else body = Buffer.concat([body, chunk]);
  }
  return body;
}
