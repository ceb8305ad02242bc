import type { Duplex } from 'node:stream';
import { isStatusError } from '@asterism/machinery';
import { UpgradeRefused } from './negotiate-upgrade.ts';

/** A kubelet says in plain text what is wrong; what it did not expect is not told. */
export function describeRefusal(error: unknown): { status: number; text: string; headers: Record<string, string> } {
  if (error instanceof UpgradeRefused) {
    return { status: error.status, text: `${error.message}\n`, headers: error.headers };
  }
  if (isStatusError(error)) return { status: error.code, text: `${error.message}\n`, headers: {} };
  return { status: 500, text: 'internal error\n', headers: {} };
}

/** Answers an Upgrade that is not taken, and ends the connection. */
export function refuseUpgrade(socket: Duplex, error: unknown): void {
  const { status, text, headers } = describeRefusal(error);
  const { STATUS_CODES } = process.getBuiltinModule('node:http');
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  const body = Buffer.from(text);
  const start = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`;
  const common = ['content-type: text/plain; charset=utf-8', `content-length: ${body.length}`, 'connection: close'];
  socket.on('error', () => {});
  socket.end(`${[start, ...lines, ...common, '', ''].join('\r\n')}${text}`);
}
