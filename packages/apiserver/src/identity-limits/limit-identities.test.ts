import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { CERTIFICATE_SIGNING_REQUESTS, CONFIG_MAPS, isStatusError, type StatusError } from '@asterism/machinery';
import { createSigningRequest } from '../pki/index.ts';
import { createSqliteStorage } from '../storage/sqlite-storage.ts';
import { startTestServer } from '../testing/index.ts';
import { type IdentityLimits, isUndecidedRequest, requesterOf } from './identity-limit.ts';

const folder = await mkdtemp(join(tmpdir(), 'apiserver-limits-'));
after(() => rm(folder, { recursive: true, force: true }));
let files = 0;
const newFile = (): string => join(folder, `${files++}.db`);

const ANNOTATION = 'example.com/created-by';
const identityLimits: IdentityLimits = {
  annotation: ANNOTATION,
  exemptGroups: ['trusted'],
  limits: [
    {
      resources: ['certificatesigningrequests.certificates.k8s.io'],
      objectBytes: 8_000,
      totalBytes: 40_000,
      objects: 5,
      counts: isUndecidedRequest,
      ownerOf: requesterOf,
    },
    { resources: ['configmaps'], objectBytes: 4_000, totalBytes: 9_000, objects: 4 },
    { resources: ['events', 'events.events.k8s.io'], objectBytes: 4_000, totalBytes: 1e6, objects: 3 },
  ],
};
const start = (file: string) =>
  startTestServer({
    storage: createSqliteStorage({ file }),
    identityLimits,
    authorization: 'AlwaysAllow',
    users: { ann: {}, bob: {}, carl: { groups: ['trusted'] } },
  });

const { csr: pem } = await createSigningRequest({ commonName: 'ann' });
const REQUEST = Buffer.from(pem).toString('base64');

const csr = (name: string, padding = 0) => ({
  metadata: { name, annotations: { padding: 'x'.repeat(padding) } },
  spec: { signerName: 'kubernetes.io/kube-apiserver-client', request: REQUEST, usages: ['client auth' as const] },
});
const map = (name: string, padding = 0) => ({
  metadata: { name, namespace: 'default' },
  data: { padding: 'x'.repeat(padding) },
});

async function refusal(promise: Promise<unknown>): Promise<StatusError> {
  const error = await promise.then(
    () => assert.fail('it was not refused'),
    (reason: unknown) => reason,
  );
  assert.ok(isStatusError(error), String(error));
  return error;
}

/** The names of those that were created, of so many at once. */
async function flood(count: number, create: (name: string) => Promise<unknown>): Promise<number> {
  const outcomes = await Promise.allSettled(Array.from({ length: count }, (_, at) => create(`flood-${at}`)));
  for (const outcome of outcomes) {
    if (outcome.status === 'fulfilled') continue;
    assert.ok(isStatusError(outcome.reason, 'TooManyRequests'), String(outcome.reason));
    assert.equal(outcome.reason.retryAfterSeconds, 5);
  }
  return outcomes.filter(({ status }) => status === 'fulfilled').length;
}

test('what one user may store is limited in number and bytes, also after a restart, and others notice nothing', async () => {
  const file = newFile();
  {
    await using server = await start(file);
    const { ann, bob, carl } = server.users;
    const requests = ann.client.resource(CERTIFICATE_SIGNING_REQUESTS);
    const large = await refusal(requests.create(csr('large', 8_000)));
    assert.equal(large.code, 413);
    assert.match(large.message, /Request entity too large: .* of user "ann" may have at most 8000 bytes/);
    assert.equal(await flood(40, (name) => requests.create(csr(name))), 5);
    const many = await refusal(requests.create(csr('more')));
    assert.match(
      many.message,
      /user "ann" has 5 undecided certificatesigningrequests.*at most 5 of them, and 40000 bytes/,
    );
    assert.equal((await refusal(requests.create(csr('flood-0')))).reason, 'AlreadyExists');
    await bob.client.resource(CERTIFICATE_SIGNING_REQUESTS).create(csr('of-bob'));
    await carl.client.resource(CERTIFICATE_SIGNING_REQUESTS).create(csr('of-carl', 20_000));
    await server.client.resource(CERTIFICATE_SIGNING_REQUESTS).create(csr('of-admin', 20_000));
    await ann.client
      .resource(CERTIFICATE_SIGNING_REQUESTS)
      .create(csr('tried'), { dryRun: true })
      .catch(() => {});
  }
  await using server = await start(file);
  const { ann } = server.users;
  const requests = ann.client.resource(CERTIFICATE_SIGNING_REQUESTS);
  assert.equal((await refusal(requests.create(csr('more')))).code, 429, 'after a restart');
  const [first] = (await requests.list()).items.filter(({ spec }) => spec.username === 'ann');
  const name = first?.metadata?.name ?? '';
  const condition = { type: 'Denied', status: 'True', reason: 'No', message: 'no' };
  const denied = { ...first, metadata: { ...first?.metadata, name }, status: { conditions: [condition] } };
  await server.client
    .resource(CERTIFICATE_SIGNING_REQUESTS)
    .update(denied as typeof first & object, { subresource: 'approval' });
  await requests.create(csr('one-more'));
  await requests.delete({ name: 'one-more' });
  await requests.create(csr('another'));
  assert.equal((await refusal(requests.create(csr('too-many')))).code, 429);
});

const JSON_BODY = { 'content-type': 'application/json' };

test('the server notes who created an object, and nobody else writes that', async () => {
  await using server = await start(newFile());
  const { ann, bob } = server.users;
  const maps = ann.client.resource(CONFIG_MAPS);
  const made = await maps.create({
    ...map('a'),
    metadata: { ...map('a').metadata, annotations: { [ANNOTATION]: 'bob' } },
  });
  assert.equal(made.metadata?.annotations?.[ANNOTATION], 'ann');
  const changed = await maps.update({
    ...made,
    metadata: { ...made.metadata, annotations: { [ANNOTATION]: 'bob', x: 'y' } },
  });
  assert.deepEqual(changed.metadata?.annotations, { [ANNOTATION]: 'ann', x: 'y' });
  const emptied = { type: 'merge' as const, body: { metadata: { annotations: null } } };
  const patched = await bob.client.resource(CONFIG_MAPS).patch({ name: 'a', namespace: 'default' }, emptied);
  assert.equal(patched.metadata?.annotations?.[ANNOTATION], 'ann');
  // Bytes count with updates too.
  const grow = (bytes: number) => ({ type: 'merge' as const, body: { data: { padding: 'x'.repeat(bytes) } } });
  assert.equal((await refusal(maps.patch({ name: 'a', namespace: 'default' }, grow(5_000)))).code, 413);
  await maps.patch({ name: 'a', namespace: 'default' }, grow(3_500));
  await maps.create(map('b', 3_500));
  assert.equal((await refusal(maps.create(map('c', 3_500)))).code, 429);
  await maps.patch({ name: 'a', namespace: 'default' }, grow(1));
  await maps.create(map('c', 3_000));
});

test('one kind counts once, whatever group it is written in', async () => {
  await using server = await start(newFile());
  const { ann } = server.users;
  const post = async (path: string, object: object): Promise<number> => {
    const { status, body } = await ann.client.request({
      method: 'POST',
      path,
      headers: JSON_BODY,
      body: JSON.stringify(object),
    });
    body.destroy();
    return status;
  };
  const old = (name: string) => ({
    metadata: { name, namespace: 'default' },
    involvedObject: { namespace: 'default' },
    reason: 'x',
    type: 'Normal',
  });
  const now = (name: string) => ({
    metadata: { name, namespace: 'default' },
    regarding: { namespace: 'default' },
    eventTime: '2026-01-01T00:00:00.000000Z',
    reportingController: 'a.b/c',
    reportingInstance: 'x',
    action: 'x',
    reason: 'x',
    type: 'Normal',
  });
  const statuses = [
    await post('/api/v1/namespaces/default/events', old('a')),
    await post('/apis/events.k8s.io/v1/namespaces/default/events', now('b')),
    await post('/api/v1/namespaces/default/events', old('c')),
    await post('/api/v1/namespaces/default/events', old('d')),
    await post('/apis/events.k8s.io/v1/namespaces/default/events', now('e')),
  ];
  assert.deepEqual(statuses, [201, 201, 201, 429, 429]);
});
