import { text as textOf } from 'node:stream/consumers';
import type { Client, TransportRequest } from '@asterism/client';
import { GROUP } from './backend.ts';

export const PATH = `/apis/${GROUP}/v1/namespaces/default/widgets`;

export interface Answered {
  status: number;
  headers: Record<string, unknown>;
  text: string;
}

export async function ask(client: Client, request: Partial<TransportRequest> & { path: string }): Promise<Answered> {
  const { status, headers, body } = await client.request({ method: 'GET', ...request });
  return { status, headers, text: await textOf(body) };
}
