import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { describe, test } from 'node:test';
import { failure } from '@asterism/machinery';
import type { ApiRequest } from '../contract/api-request.ts';
import type { ExtensionHandler } from '../http/extension/extension-router.ts';
import { Metrics, type RequestLabels } from '../http/health/metrics.ts';
import { findResource, type FoundResource } from '../http/request/find-resource.ts';
import { FairSeats } from '../http/wire/fair-seats.ts';
import { RequestChain } from './request-chain.ts';
import { openTestRegistry } from './testing/test-registry.ts';

const OK = { status: 200, headers: {} };

/** Authorizes itself, and so the chain does not. */
const SELF_AUTHORIZING: ExtensionHandler = { authorization: 'handler', handle: async () => OK };

function request(method: string, path: string): ApiRequest {
  return {
    method,
    path,
    query: new URLSearchParams(),
    headers: {},
    body: async () => new Uint8Array(),
    bodyStream: Readable.from([]),
    signal: new AbortController().signal,
  };
}

/** A chain of which each part counts its lookups. `extension` answers the lookups of extensions, by their number. */
async function openChain(options: {
  allowed: boolean;
  extension?: (lookup: number) => { resource?: ExtensionHandler } | undefined;
}) {
  const { registry } = await openTestRegistry();
  const looked = { extensions: 0, resources: 0 };
  const handled: (FoundResource | undefined)[] = [];
  const labels: RequestLabels[] = [];
  const metrics = new Metrics();
  metrics.requestEnded = (each) => labels.push(each);
  const chain = new RequestChain({
    authenticate: async () => ({ username: 'u', groups: [] }),
    authorizer: { authorize: () => ({ allowed: options.allowed, reason: '' }) },
    extensions: {
      find: () => options.extension?.(++looked.extensions),
      names: (found) => found?.resource !== undefined,
      handle: async () => OK,
      contextOf: () => {
        throw failure(500, 'no extension is called here');
      },
    },
    resources: {
      find(info) {
        looked.resources++;
        return findResource(registry, info);
      },
      async handle(_, found) {
        handled.push(found);
        return OK;
      },
    },
    paths: async () => OK,
    seats: new FairSeats(10),
    metrics,
    auditor: undefined,
    logger: undefined,
  });
  return { chain, looked, handled, labels, [Symbol.asyncDispose]: () => registry.close() };
}

describe('a request', () => {
  test('is looked up once, and its handler receives the answer', async () => {
    await using t = await openChain({ allowed: true, extension: () => undefined });
    await t.chain.handle(request('PUT', '/apis/apps/v1/namespaces/default/deployments/web/scale'));
    assert.deepEqual(t.looked, { extensions: 1, resources: 1 });
    assert.equal(t.handled[0]?.resource.type.kind, 'Deployment');
    assert.equal(t.handled[0]?.subresource?.kind, 'Scale');
  });

  for (const [path, isNamed] of [
    ['/api/v1/namespaces/default/pods/p/status', true],
    ['/api/v1/namespaces/default/pods/p/made-up', false],
    ['/api/v1/namespaces/default/made-up/p', false],
  ] as const) {
    test(`${path} ${isNamed ? 'has' : 'does not have'} its name in metrics`, async () => {
      await using t = await openChain({ allowed: true });
      await t.chain.handle(request('GET', path));
      assert.deepEqual(
        t.labels.map(({ resource }) => resource !== ''),
        [isNamed],
      );
    });
  }

  test('is not handed to an extension, nor excused from authorization, if the extension is added meanwhile', async () => {
    const extension = (lookup: number) => (lookup === 1 ? undefined : { resource: SELF_AUTHORIZING });
    await using t = await openChain({ allowed: false, extension });
    const { status } = await t.chain.handle(request('GET', '/api/v1/namespaces/default/secrets/s'));
    assert.equal(status, 403);
    assert.deepEqual(t.handled, []);
  });
});
