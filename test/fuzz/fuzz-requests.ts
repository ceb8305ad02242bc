import assert from 'node:assert/strict';
import { request as httpsRequest } from 'node:https';
import { once } from 'node:events';
import { loadProtobuf } from '@asterism/machinery';
import type { FuzzedServer } from './fuzzed-server.ts';
import type { Draw } from '../soak/draw.ts';
import { type FuzzRequest, randomRequest } from './random-request.ts';
import { describe, type FuzzAnswer, sendAll } from './send-all.ts';
import { WIDGET_DEFINITION } from './sound-objects.ts';

/** Codes that a kube-apiserver 1.36 gives to bad input too: 500 to a bad apply or strategic patch, 504 to a version of the future. */
const ALLOWED_FAILURES: readonly number[] = [500, 501, 504];

/** Answers by their status. */
export type Tally = Map<number, number>;

/** Makes the custom resource that some requests are about. */
export async function prepareServer(server: FuzzedServer): Promise<void> {
  const request = httpsRequest({
    hostname: server.url.hostname,
    port: server.url.port,
    ca: server.ca,
    method: 'POST',
    path: '/apis/apiextensions.k8s.io/v1/customresourcedefinitions',
    headers: { authorization: `Bearer ${server.token}`, 'content-type': 'application/json' },
  });
  request.end(JSON.stringify(WIDGET_DEFINITION));
  const [response] = (await once(request, 'response')) as [import('node:http').IncomingMessage];
  response.resume();
  assert.equal(response.statusCode, 201);
}

/**
 * Sends `count` random requests. Fails where an answer is neither fine nor a refusal, where a refusal is not a Status, or
 * where the server complains of itself.
 */
export async function fuzzRequests(server: FuzzedServer, draw: Draw, count: number): Promise<Tally> {
  const protobuf = await loadProtobuf();
  const tally: Tally = new Map();
  await sendAll(
    server,
    count,
    () => randomRequest(draw, protobuf),
    (request, answer) => {
      tally.set(answer.status, (tally.get(answer.status) ?? 0) + 1);
      judge(request, answer);
    },
  );
  const { complaints } = await server.report();
  assert.deepEqual(complaints.slice(0, 3), []);
  return tally;
}

function judge(request: FuzzRequest, { status, contentType, body }: FuzzAnswer): void {
  const about = `${describe(request)}\n→ ${status} ${body.slice(0, 500)}`;
  assert.ok(status < 500 || ALLOWED_FAILURES.includes(status), about);
  if (status < 400 || !contentType.startsWith('application/json')) return;
  const answered = JSON.parse(body) as { kind?: string; code?: number };
  assert.equal(answered.kind, 'Status', about);
  assert.equal(answered.code, status, about);
}

export function renderTally(tally: Tally): string {
  return [...tally]
    .sort(([a], [b]) => a - b)
    .map(([status, count]) => `${status}: ${count}`)
    .join(', ');
}
