import type { Duplex } from 'node:stream';
import { relayedAnswer, relayedSwitch, type TransportResponse } from '@asterism/client';
import { answerText } from '../http/answer/answer.ts';
import type { ExtensionContext } from '../http/extension/api-extension.ts';
import { refuseUpgrade } from '../http/wire/upgrade.ts';
import { isRedirect, type Relay, relayHeaders } from './relay-request.ts';

/** So long may the last bytes take to a reader who does not read. */
const LAST_BYTES_MS = 60_000;

/** The caller's end of a connection that asked for an Upgrade. */
export interface UpgradeEnd {
  socket: Duplex;
  /** What came behind the request. */
  head: Buffer;
}

/**
 * Asks another server for the same Upgrade, and ties both connections together: bytes go both ways as fast as they are taken,
 * and when one end is gone so is the other. A refusal is passed on. Rejects where no answer came, with nothing written.
 */
export async function relayUpgrade({ request }: ExtensionContext, relay: Relay, end: UpgradeEnd): Promise<void> {
  const { socket, head } = end;
  const left = new AbortController();
  const leave = (): void => left.abort(new Error('the caller is gone'));
  socket.on('error', () => {});
  socket.once('close', leave);
  const answer = await relay.transport.upgrade({
    method: request.method,
    path: relay.path,
    headers: {
      ...relayHeaders(request.headers),
      connection: 'Upgrade',
      upgrade: request.headers['upgrade'],
      ...relay.headers,
    },
    signal: AbortSignal.any([request.signal, left.signal]),
  });
  // From here on what was sent before the end is still to arrive.
  socket.off('close', leave);
  if (!('socket' in answer)) {
    await passRefusalOn(socket, answer, { ...relay, method: request.method });
    return;
  }
  socket.write(switchingHead(relayedSwitch(answer, request.headers['upgrade'])));
  if (head.length > 0) answer.socket.write(head);
  tie(socket, answer.socket);
}

async function passRefusalOn(
  socket: Duplex,
  answer: TransportResponse,
  { redirects, root, method }: Relay & { method: string },
): Promise<void> {
  if (redirects !== 'pass' && isRedirect(answer)) {
    answer.body.destroy();
    await refuseUpgrade(
      socket,
      answerText(502, 'the backend attempted to redirect this request, which is not permitted'),
    );
    return;
  }
  const { status, headers, body, bytes } = relayedAnswer(answer, { method, root });
  await refuseUpgrade(socket, { status, headers, body: bytes ?? body });
}

function switchingHead(headers: Record<string, string | string[]>): string {
  const lines = Object.entries(headers).flatMap(([name, value]) => [value].flat().map((each) => `${name}: ${each}`));
  return ['HTTP/1.1 101 Switching Protocols', ...lines, '', ''].join('\r\n');
}

function tie(one: Duplex, other: Duplex): void {
  for (const [from, to] of [
    [one, other],
    [other, one],
  ] as const) {
    from.on('error', () => {});
    from.once('close', () => finish(to));
    from.pipe(to);
  }
  if (one.destroyed) finish(other);
}

/** Lets what is on its way arrive. */
function finish(socket: Duplex): void {
  if (socket.destroyed) return;
  const timer = setTimeout(() => socket.destroy(), LAST_BYTES_MS);
  timer.unref();
  socket.once('close', () => clearTimeout(timer));
  socket.end(() => socket.destroy());
}
