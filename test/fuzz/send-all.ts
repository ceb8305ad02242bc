import { once } from 'node:events';
import { type ClientHttp2Session, connect } from 'node:http2';
import { Agent, request as httpsRequest } from 'node:https';
import { text } from 'node:stream/consumers';
import type { FuzzedServer } from './fuzzed-server.ts';
import type { FuzzRequest } from './random-request.ts';

export interface FuzzAnswer {
  status: number;
  contentType: string;
  body: string;
}

const IN_FLIGHT = 16;
const ANSWER_TIMEOUT_MS = 20_000;

/** Sends `count` requests, half over HTTP/1.1 and half over HTTP/2, and gives every answer to `judge`. */
export async function sendAll(
  server: FuzzedServer,
  count: number,
  next: () => FuzzRequest,
  judge: (request: FuzzRequest, answer: FuzzAnswer) => void,
): Promise<void> {
  const agent = new Agent({ keepAlive: true, ca: server.ca, maxSockets: IN_FLIGHT });
  const session = connect(server.url, { ca: server.ca });
  let left = count;
  const work = async (index: number): Promise<void> => {
    while (left-- > 0) {
      const request = next();
      const send = index % 2 === 0 ? overHttp1(server, agent, request) : overHttp2(server, session, request);
      const answer = await send.catch((cause: unknown) => {
        throw new Error(`no answer to ${describe(request)}`, { cause });
      });
      judge(request, answer);
    }
  };
  try {
    await Promise.all(Array.from({ length: IN_FLIGHT }, (_, index) => work(index)));
  } finally {
    agent.destroy();
    session.destroy();
  }
}

/** A request for people, cut to what fits on a page. */
export function describe({ method, path, headers, body }: FuzzRequest): string {
  const shown = body?.toString('latin1').slice(0, 2_000) ?? '';
  return `${method} ${path.slice(0, 200)} ${JSON.stringify(headers)} ${body?.length ?? 0} bytes: ${shown}`;
}

async function overHttp1(server: FuzzedServer, agent: Agent, fuzz: FuzzRequest): Promise<FuzzAnswer> {
  const headers = { ...fuzz.headers, authorization: `Bearer ${server.token}` };
  const { hostname, port } = server.url;
  const { method, path } = fuzz;
  const request = httpsRequest({
    agent,
    hostname,
    port,
    ca: server.ca,
    method,
    path,
    headers,
    timeout: ANSWER_TIMEOUT_MS,
  });
  request.on('timeout', () => request.destroy(new Error(`no answer to ${method} ${path}`)));
  request.end(fuzz.body);
  const [response] = (await once(request, 'response')) as [import('node:http').IncomingMessage];
  request.on('error', () => {});
  let body = '';
  for await (const chunk of response) body += String(chunk);
  return { status: response.statusCode ?? 0, contentType: response.headers['content-type'] ?? '', body };
}

async function overHttp2(server: FuzzedServer, session: ClientHttp2Session, fuzz: FuzzRequest): Promise<FuzzAnswer> {
  const headers = { ...fuzz.headers, authorization: `Bearer ${server.token}` };
  const stream = session.request(
    { ...headers, ':method': fuzz.method, ':path': fuzz.path },
    { endStream: fuzz.body === undefined },
  );
  stream.setTimeout(ANSWER_TIMEOUT_MS, () => stream.destroy(new Error(`no answer to ${fuzz.method} ${fuzz.path}`)));
  if (fuzz.body !== undefined) stream.end(fuzz.body);
  // Read from the first: what comes with the end of its stream before anybody reads, Node throws away.
  const whole = text(stream);
  whole.catch(() => {});
  const [answered] = (await once(stream, 'response')) as [Record<string, string | number>];
  const body = await whole;
  return { status: Number(answered[':status']), contentType: String(answered['content-type'] ?? ''), body };
}
