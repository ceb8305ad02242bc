import { once } from 'node:events';
import { type ClientHttp2Session, connect as connectHttp2 } from 'node:http2';
import type { TestContext } from 'node:test';
import { connect, type TLSSocket } from 'node:tls';
import { createCertificateAuthority, issueCertificate } from '../../pki/index.ts';
import type { ApiRequest, ApiResponse } from '../../contract/api-request.ts';
import { Listener, type ListenerOptions, type RequestHandler } from './listener.ts';

export interface Running {
  port: number;
  ca: string;
  listener: Listener;
  errors: unknown[];
}

/** A listener on a free port that ends with the test. */
export async function start(
  t: TestContext,
  handle: (request: ApiRequest) => Promise<ApiResponse>,
  times: Pick<ListenerOptions, 'headersTimeoutMs' | 'keepAliveMs' | 'stallMs' | 'maxSilent'> = {},
): Promise<Running> {
  const ca = await createCertificateAuthority({ commonName: 'ca' });
  const tls = await issueCertificate(ca, { commonName: 's', ipAddresses: ['127.0.0.1'], usages: ['server'], days: 1 });
  const handler: RequestHandler = { handle, upgrade: () => Promise.resolve() };
  const errors: unknown[] = [];
  const listener = new Listener({
    host: '127.0.0.1',
    port: 0,
    tls,
    clientCa: undefined,
    handler,
    onError: (error) => errors.push(error),
    ...times,
  });
  t.after(() => listener.close());
  return { ...(await listener.listen()), ca: ca.cert, listener, errors };
}

/** An HTTP/1.1 connection, or one of HTTP/2 (`h2`) on which nothing is said. */
export async function open({ port, ca }: Running, protocol: 'http/1.1' | 'h2' = 'http/1.1'): Promise<TLSSocket> {
  const socket = connect({ port, host: '127.0.0.1', ca, ALPNProtocols: [protocol] });
  socket.on('error', () => {});
  await once(socket, 'secureConnect');
  return socket;
}

/** An HTTP/2 connection; it ends with the test. */
export function openHttp2(t: TestContext, { port, ca }: Running): ClientHttp2Session {
  const session = connectHttp2(`https://127.0.0.1:${port}`, { ca });
  session.on('error', () => {});
  t.after(() => session.destroy());
  return session;
}

export const fine = (): Promise<ApiResponse> =>
  Promise.resolve({ status: 200, headers: {}, body: Buffer.from('fine') });
