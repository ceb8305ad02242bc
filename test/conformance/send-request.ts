import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { type Agent, request as httpsRequest } from 'node:https';
import { buffer } from 'node:stream/consumers';
import { loadProtobuf } from '@asterism/machinery';
import type { RecordedRequest, RecordedResponse } from './scenario.ts';

/** The server that is asked, by whatever way its requests go there. */
export interface Target {
  host: string;
  port: number;
  /** PEM. */
  ca: string;
  agent: Agent;
}

/** An answer, as recordings have it: one of the bodies, or none. */
export type Answer = RecordedResponse;

const KEPT_HEADERS = ['content-type', 'location', 'retry-after', 'etag'];
const REQUEST_TIMEOUT_MS = 60_000;

/** Makes the request and reads its whole answer. */
export async function sendRequest(target: Target, request: RecordedRequest): Promise<Answer> {
  return await readAnswer(await openRequest(target, request));
}

/** Makes the request and resolves with its answer when the headers are there. */
export async function openRequest(target: Target, recorded: RecordedRequest): Promise<IncomingMessage> {
  const body = bodyOf(recorded);
  const request = httpsRequest({
    ...target,
    method: recorded.method,
    path: pathOf(recorded),
    headers: headersOf(recorded, body),
    timeout: REQUEST_TIMEOUT_MS,
  });
  request.on('timeout', () => request.destroy(new Error(`no answer within ${REQUEST_TIMEOUT_MS / 1_000} s`)));
  request.end(body);
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  // A server that refuses a large body answers before it has read it, and may cut it off then.
  request.on('error', () => {});
  return response;
}

/** Reads the rest of an answer. */
export async function readAnswer(response: IncomingMessage): Promise<Answer> {
  const bytes = await buffer(response);
  const headers: Answer['headers'] = {};
  for (const name of KEPT_HEADERS) {
    const value = response.headers[name];
    if (value !== undefined) headers[name] = value;
  }
  const warnings = response.headersDistinct['warning'];
  if (warnings !== undefined) headers['warning'] = warnings;
  return { status: response.statusCode ?? 0, headers, ...readBody(headers['content-type'], bytes) };
}

function readBody(contentType: unknown, bytes: Buffer): Partial<Answer> {
  if (bytes.length === 0) return {};
  const type = String(contentType);
  if (type.includes('json')) {
    try {
      return { body: JSON.parse(bytes.toString()) as unknown };
    } catch {
      return { bodyText: bytes.toString() };
    }
  }
  return type.includes('protobuf') ? { bodyBase64: bytes.toString('base64') } : { bodyText: bytes.toString() };
}

/** A protobuf body as the object in it, where its kind is one that can be decoded. */
export async function decodeProtobufBody(answer: Answer): Promise<Answer> {
  if (answer.bodyBase64 === undefined) return answer;
  const { bodyBase64, ...rest } = answer;
  try {
    return { ...rest, body: (await loadProtobuf()).decode(Buffer.from(bodyBase64, 'base64')) };
  } catch {
    return answer;
  }
}

function pathOf({ path, query = {} }: RecordedRequest): string {
  const search = new URLSearchParams();
  for (const [name, values] of Object.entries(query)) {
    for (const value of [values].flat()) search.append(name, value);
  }
  if (search.size === 0) return path;
  return `${path}${path.includes('?') ? '&' : '?'}${search.toString()}`;
}

function bodyOf({ body, bodyText, bodyBase64, bodyRepeat }: RecordedRequest): Buffer | undefined {
  if (body !== undefined) return Buffer.from(JSON.stringify(body));
  if (bodyText !== undefined) return Buffer.from(bodyText);
  if (bodyBase64 !== undefined) return Buffer.from(bodyBase64, 'base64');
  if (bodyRepeat === undefined) return undefined;
  const [before, unit, times, after] = bodyRepeat;
  return Buffer.from(before + unit.repeat(times) + after);
}

function headersOf(
  { headers = {}, user = 'admin' }: RecordedRequest,
  body: Buffer | undefined,
): Record<string, string | string[]> {
  const all: Record<string, string | string[] | null> = {
    accept: 'application/json',
    'user-agent': 'conformance/1.0',
    // Of a DELETE Node says the length only where it is told to.
    ...(body === undefined ? {} : { 'content-type': 'application/json', 'content-length': String(body.length) }),
    ...(user === 'anonymous' ? {} : { authorization: `Bearer ${user}-token` }),
  };
  for (const [name, value] of Object.entries(headers)) all[name.toLowerCase()] = value;
  return Object.fromEntries(
    Object.entries(all).filter((entry): entry is [string, string | string[]] => entry[1] !== null),
  );
}
