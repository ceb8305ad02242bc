import type { Client } from '@asterism/client';
import { type KubeObject, parseJson } from '@asterism/machinery';

/** An object, or a Status. */
type Answered = Omit<KubeObject, 'status'> & { status?: unknown; message?: string; details?: object };

export async function post(client: Client, path: string, body: object): Promise<{ status: number; body: Answered }> {
  const response = await client.request({
    method: 'POST',
    path,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  const pieces: Buffer[] = [];
  for await (const piece of response.body) pieces.push(piece as Buffer);
  return {
    status: response.status,
    body: parseJson(Buffer.concat(pieces).toString()) as Answered,
  };
}

export async function review(
  client: Client,
  path: string,
  kind: string,
  spec: object,
): Promise<Record<string, unknown>> {
  const object = { kind, apiVersion: 'authorization.k8s.io/v1', spec };
  const { status, body } = await post(client, `/apis/authorization.k8s.io/v1/${path}`, object);
  return status === 201 ? (body.status as Record<string, unknown>) : { code: status, message: body.message };
}
