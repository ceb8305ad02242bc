import type { Server } from 'node:http';
import { type Duplex, duplexPair } from 'node:stream';
import type { ContainerRef } from './container-runtime.ts';

const { createServer } = process.getBuiltinModule('node:http');

const REQUEST_LINE = /^[A-Z]+ \S+ HTTP\/1\.[01]\r?\n/;
const MAX_REQUEST_LINE = 8192;

/** A connection to a program that tells HTTP/1.1 clients which pod it is, and gives others back what they send. */
export function connectToContainer(server: Server): Duplex {
  const [client, inside] = duplexPair();
  let seen = Buffer.alloc(0);
  inside.on('error', () => client.destroy());
  client.on('error', () => undefined);
  const decide = (chunk: Buffer): void => {
    seen = Buffer.concat([seen, chunk]);
    const open =
      seen.length < MAX_REQUEST_LINE && !seen.includes(10) && /^[A-Z]+(?: [^\r\n]*)?$/.test(seen.toString('latin1'));
    if (open) return;
    inside.off('data', decide);
    inside.off('end', close);
    inside.pause();
    inside.unshift(seen);
    if (!REQUEST_LINE.test(seen.subarray(0, MAX_REQUEST_LINE).toString('latin1'))) return void inside.pipe(inside);
    server.emit('connection', inside);
    inside.resume();
  };
  const close = (): void => void inside.end(seen);
  inside.on('data', decide);
  inside.once('end', close);
  return client;
}

/** The page of a container: who it is and what was asked. */
export function pageServer(ref: ContainerRef, image: string): Server {
  return createServer((request, response) => {
    request.resume();
    response.setHeader('content-type', 'text/plain; charset=utf-8');
    const text = `Hello from ${ref.namespace}/${ref.pod} (${ref.container}, ${image})\n${request.method} ${request.url}\n`;
    response.end(text);
  });
}
