import type { Duplex } from 'node:stream';
import { TunnelError } from '../tunnel-error.ts';
import { checkHeaders, gatherHeaders, valuesOf, type WireHeaders } from './headers.ts';

/** Not imported: that would load undici and WebSocket too, 30 ms and 12 MB of a start. */
const { STATUS_CODES } = process.getBuiltinModule('node:http');

/** The heads of HTTP/1.1 messages (RFC 9112) on upgrade connections, where Node's own client and server cannot be used. */
export interface RequestHead {
  method: string;
  path: string;
  headers: WireHeaders;
}

export interface ResponseHead {
  status: number;
  headers: WireHeaders;
}

/** @throws TunnelError `PROTOCOL` for what would break out of its line. */
export function formatRequestHead({ method, path, headers }: RequestHead): string {
  if (!/^[A-Z]+$/.test(method) || !/^\/[\x21-\x7e]*$/.test(path)) {
    throw new TunnelError('PROTOCOL', `not a request line: ${JSON.stringify(`${method} ${path}`)}`);
  }
  return `${method} ${path} HTTP/1.1\r\n${formatHeaders(headers)}\r\n`;
}

export function formatResponseHead({ status, headers }: ResponseHead): string {
  return `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n${formatHeaders(headers)}\r\n`;
}

function formatHeaders(headers: WireHeaders): string {
  checkHeaders(headers);
  let text = '';
  for (const name of Object.keys(headers)) {
    for (const one of valuesOf(headers, name)) text += `${name}: ${one}\r\n`;
  }
  return text;
}

export function parseRequestHead(lines: readonly string[]): RequestHead {
  const match = /^([A-Z]+) (\/[\x21-\x7e]*) HTTP\/1\.1$/.exec(lines[0] ?? '');
  if (!match) throw new TunnelError('PROTOCOL', 'the first line is not an HTTP/1.1 request line');
  return { method: match[1] as string, path: match[2] as string, headers: parseHeaders(lines) };
}

export function parseResponseHead(lines: readonly string[]): ResponseHead {
  const match = /^HTTP\/1\.[01] ([1-5]\d\d)(?: .*)?$/.exec(lines[0] ?? '');
  if (!match) throw new TunnelError('PROTOCOL', 'the first line is not an HTTP/1.1 status line');
  return { status: Number(match[1]), headers: parseHeaders(lines) };
}

function parseHeaders(lines: readonly string[]): WireHeaders {
  const raw: string[] = [];
  for (const line of lines.slice(1)) {
    const colon = line.indexOf(':');
    const value = withoutBlanks(line.slice(colon + 1));
    if (!TOKEN.test(line.slice(0, colon)) || LINE_BREAK.test(value))
      throw new TunnelError('PROTOCOL', 'a header line is malformed');
    raw.push(line.slice(0, colon), value);
  }
  return gatherHeaders(raw);
}

const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const LINE_BREAK = /[\n\r\u2028\u2029]/;

/** The text without spaces and tabs at its ends. */
function withoutBlanks(text: string): string {
  let [start, end] = [0, text.length];
  while (start < end && isBlank(text[start])) start += 1;
  while (end > start && isBlank(text[end - 1])) end -= 1;
  return text.slice(start, end);
}

function isBlank(character: string | undefined): boolean {
  return character === ' ' || character === '\t';
}

export interface ReadHeadOptions {
  maxBytes: number;
  signal?: AbortSignal | undefined;
  /** Called for each blank line before the head: a sign of life. */
  onBlankLine?: (() => void) | undefined;
}

/**
 * The lines of the next head on a socket. Blank lines before it are skipped (RFC 9112 2.2). What came behind the head is put
 * back, and the socket is left paused.
 *
 * @throws TunnelError `LOST` when the socket ends first, `LIMIT` above `maxBytes`; the signal's reason when that aborts.
 */
export function readHead(socket: Duplex, { maxBytes, signal, onBlankLine }: ReadHeadOptions): Promise<string[]> {
  return new Promise((resolve, reject) => {
    let held: Buffer = Buffer.alloc(0);
    const settle = (act: () => void): void => {
      socket.off('data', onData).off('end', onEnd).off('close', onEnd).off('error', onError);
      signal?.removeEventListener('abort', onAbort);
      socket.pause();
      act();
    };
    const fail = (error: unknown): void => settle(() => reject(error as Error));
    const onEnd = (): void => fail(new TunnelError('LOST', 'the connection ended before a whole head came'));
    const onError = (cause: Error): void =>
      fail(new TunnelError('LOST', `the connection broke: ${cause.message}`, { cause }));
    const onAbort = (): void => fail(signal?.reason);
    const onData = (chunk: Buffer): void => {
      held = held.length === 0 ? chunk : Buffer.concat([held, chunk]);
      while (held[0] === 13 && held[1] === 10) {
        held = held.subarray(2);
        onBlankLine?.();
      }
      const end = held.indexOf('\r\n\r\n');
      if (end > maxBytes || (end < 0 && held.length > maxBytes)) {
        fail(new TunnelError('LIMIT', `the head of a message is larger than ${maxBytes} bytes`));
      } else if (end >= 0) {
        const rest = held.subarray(end + 4);
        settle(() => {
          if (rest.length > 0) socket.unshift(rest);
          resolve(held.toString('latin1', 0, end).split('\r\n'));
        });
      }
    };
    if (signal?.aborted) return reject(signal.reason as Error);
    if (socket.destroyed || socket.readableEnded) return onEnd();
    socket.on('data', onData).on('end', onEnd).on('close', onEnd).on('error', onError);
    signal?.addEventListener('abort', onAbort, { once: true });
    socket.resume(); // It may have been left paused by the head before.
  });
}
