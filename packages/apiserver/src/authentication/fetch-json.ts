import type { IncomingMessage } from 'node:http';
import { checkJson, READ_LIMITS, readBody, trustAnchors } from '@asterism/client';
import { parseJson } from '@asterism/machinery';

const TIMEOUT_MS = 5_000;

/**
 * What an https URL answers, parsed. Rejects with an `Error` that names the URL: for a certificate that `ca` does not vouch for,
 * any status but 200 (redirects are not followed), more than the limits for a document of an identity provider allow, or after 5 s.
 */
export async function fetchJson(url: string, ca: string | undefined): Promise<unknown> {
  const { get } = await import('node:https');
  const { promise, resolve, reject } = Promise.withResolvers<unknown>();
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  const fail = (cause: unknown): void => reject(new Error(`${url}: ${(cause as Error).message}`, { cause }));
  const options = {
    signal,
    agent: false,
    headers: { accept: 'application/json' },
    ...trustAnchors(ca),
  };
  const request = get(url, options, (response) => {
    readJson(response, new URL(url).host).then(resolve, (error: unknown) => {
      request.destroy();
      fail(error);
    });
  });
  request.on('error', fail);
  return await promise;
}

async function readJson(response: IncomingMessage, host: string): Promise<unknown> {
  if (response.statusCode !== 200) throw new Error(`status ${response.statusCode}`);
  const limits = READ_LIMITS.identity;
  const bytes = await readBody(response, host, { limits });
  checkJson(bytes, host, limits);
  return parseJson(bytes.toString('utf8'));
}
