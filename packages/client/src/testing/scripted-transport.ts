import { Readable } from 'node:stream';
import { type Client, type ClientOptions, createClient } from '../client.ts';
import type { Headers, Transport, TransportRequest } from '../transport.ts';

export interface Answer {
  status?: number;
  headers?: Headers;
  body?: string | (() => AsyncIterable<string | Uint8Array>);
}

export interface Script {
  readonly requests: TransportRequest[];
  readonly transport: Transport;
  client(options?: Partial<ClientOptions>): Client;
}

/** A transport that notes requests and gives the answers in turn, the last one for ever. */
export function scripted(...answers: Answer[]): Script {
  const requests: TransportRequest[] = [];
  const transport: Transport = {
    server: 'https://fake.test',
    request(request) {
      requests.push(request);
      const { status = 200, headers = {}, body = '{}' } = (answers.length > 1 ? answers.shift() : answers[0]) ?? {};
      const chunks = typeof body === 'string' ? [Buffer.from(body)] : body();
      return Promise.resolve({ status, headers, body: Readable.from(chunks, { objectMode: false }) });
    },
    upgrade: () => Promise.reject(new Error('not here')),
    close: () => Promise.resolve(),
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
  return { requests, transport, client: (options) => createClient({ transport, ...options }) };
}

export function json(body: unknown, status = 200): Answer {
  return { status, body: JSON.stringify(body) };
}
