import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';

/** Answers a request as no API server does. Ends when the caller leaves. */
export type Behaviour = (request: IncomingMessage, response: ServerResponse, gone: AbortSignal) => Promise<void>;

const JSON_HEADERS = { 'content-type': 'application/json' };
const FILLING = 'x'.repeat(64 * 1024);

/** Begins as a list does, and never ends. */
export const endlessAnswer: Behaviour = async (_, response, gone) => {
  response.writeHead(200, JSON_HEADERS);
  response.write('{"kind":"List","apiVersion":"v1","items":[{"metadata":{"name":"');
  while (!gone.aborted) await write(response, FILLING, gone);
};

/** Pages of objects that never end, each with another token. */
export function endlessPages(kind: string, objectBytes = 20_000): Behaviour {
  let page = 0;
  return async (_, response) => {
    page++;
    const data = { filling: 'y'.repeat(objectBytes) };
    const items = Array.from({ length: 200 }, (_each, index) => ({
      metadata: { name: `p${page}-${index}`, namespace: 'default', uid: `${page}-${index}`, resourceVersion: '1' },
      data,
    }));
    const list = {
      kind: `${kind}List`,
      apiVersion: 'v1',
      metadata: { resourceVersion: '1', continue: `t${page}` },
      items,
    };
    response.writeHead(200, JSON_HEADERS).end(JSON.stringify(list));
  };
}

/** The same token again and again. */
export const repeatedPage: Behaviour = async (_, response) => {
  const list = { kind: 'List', apiVersion: 'v1', metadata: { resourceVersion: '1', continue: 'same' }, items: [] };
  response.writeHead(200, JSON_HEADERS).end(JSON.stringify(list));
};

/** A letter now and then, for ever. */
export const trickle: Behaviour = async (_, response, gone) => {
  response.writeHead(200, JSON_HEADERS);
  response.write('{"items":[');
  while (!gone.aborted) {
    await write(response, ' ', gone);
    await delay(50, undefined, { signal: gone }).catch(() => {});
  }
};

/** Small on the wire, large once it is decompressed. */
export function bomb(megabytes = 128): Behaviour {
  const packed = gzipSync(Buffer.alloc(megabytes * 1024 * 1024, '['), { level: 1 });
  return async (_, response) => {
    response.writeHead(200, { ...JSON_HEADERS, 'content-encoding': 'gzip' }).end(packed);
  };
}

/** One object of millions of levels. */
export const deep: Behaviour = async (_, response) => {
  const levels = 8_000_000;
  response.writeHead(200, JSON_HEADERS);
  response.end(`{"items":[{"metadata":{"name":"a"},"data":${'['.repeat(levels)}${']'.repeat(levels)}}]}`);
};

/** An event without an end. */
export const endlessLine: Behaviour = async (_, response, gone) => {
  response.writeHead(200, JSON_HEADERS);
  response.write('{"type":"ADDED","object":{"metadata":{"name":"');
  while (!gone.aborted) await write(response, FILLING, gone);
};

async function write(response: ServerResponse, text: string, gone: AbortSignal): Promise<void> {
  if (!response.write(text)) await once(response, 'drain', { signal: gone }).catch(() => {});
}
