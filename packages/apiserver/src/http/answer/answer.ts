import {
  failure,
  isStatusError,
  type KubeObject,
  loadProtobuf,
  parseApiVersion,
  type Status,
  StatusError,
} from '@asterism/machinery';
import type { ApiResponse } from '../../contract/api-request.ts';
import { type Encoding, MEDIA_TYPE } from './negotiate.ts';

/** An answer of one JSON value. */
export function answerJson(status: number, value: unknown): ApiResponse {
  return answerBytes(status, Buffer.from(JSON.stringify(value)));
}

/** An answer of bytes that are JSON already. */
export function answerBytes(status: number, body: Uint8Array, contentType = MEDIA_TYPE.json): ApiResponse {
  return { status, headers: { 'content-type': contentType, 'content-length': String(body.byteLength) }, body };
}

export function answerText(status: number, text: string): ApiResponse {
  const headers = { 'content-type': 'text/plain; charset=utf-8', 'x-content-type-options': 'nosniff' };
  return { status, headers, body: Buffer.from(text) };
}

/** A `Status` in the encoding that the client asked for, with `Retry-After` where the status says when to come again. */
export async function answerStatus(status: Status, encoding: Encoding = 'json'): Promise<ApiResponse> {
  const response = await encodeValue(status.code ?? 200, status, encoding);
  const seconds = status.details?.retryAfterSeconds;
  if (seconds !== undefined) response.headers['retry-after'] = String(seconds);
  return response;
}

/** An answer of one JSON value, as YAML or as protobuf where that was asked for; an object without a message stays JSON. */
export async function encodeValue(status: number, value: object, encoding: Encoding): Promise<ApiResponse> {
  if (encoding === 'protobuf') return await encodeProtobuf(status, { apiVersion: 'v1', ...value });
  if (encoding !== 'yaml') return answerJson(status, value);
  const { writeYaml } = await import('../body/write-yaml.ts');
  return answerBytes(status, Buffer.from(writeYaml(value)), MEDIA_TYPE.yaml);
}

async function encodeProtobuf(status: number, object: KubeObject): Promise<ApiResponse> {
  const protobuf = await loadProtobuf();
  const { apiVersion = '', kind = '' } = object;
  if (!protobuf.knows({ ...parseApiVersion(apiVersion), kind })) return answerJson(status, object);
  return answerBytes(status, protobuf.encode(object), MEDIA_TYPE.protobuf);
}

/** What an error means to a client: a `StatusError` as it is; anything else is a fault of the server, without its text. */
export function statusOf(error: unknown): StatusError {
  if (isStatusError(error)) return error;
  return failure(500, 'an internal error of the server prevented the request from succeeding; its log tells more', {
    cause: error,
  });
}

/** 404 for a path below `/api` or `/apis` that nothing is served on; the text is what clients know. */
export function resourceNotServed(): StatusError {
  return failure(404, 'the server could not find the requested resource', { details: {} });
}

export function methodNotAllowed(): StatusError {
  return failure(405, 'the server does not allow this method on the requested resource', { details: {} });
}
