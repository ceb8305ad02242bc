import assert from 'node:assert/strict';
import { copyFile, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, before, describe, test } from 'node:test';
import { type Client, readBody } from '@asterism/client';
import { CONFIG_MAPS, SECRETS, type Status } from '@asterism/machinery';
import type { ServerLogger } from './contract/server-logger.ts';
import { createSqliteStorage } from './storage/sqlite-storage.ts';
import { startTestServer, type TestServer } from './testing/index.ts';

const folder = await mkdtemp(join(tmpdir(), 'apiserver-damaged-'));
after(() => rm(folder, { recursive: true, force: true }));
let files = 0;

const CONTENT = 'c29tZXRoaW5nIHNlY3JldA==';
const OPTION = 'ignoreStoreReadErrorWithClusterBreakingPotential';
const DEFAULT = '/api/v1/namespaces/default/secrets';

interface Line {
  fields: object;
  message: string;
}

function recorder(): ServerLogger & { lines: Line[] } {
  const lines: Line[] = [];
  const log = (fields: object, message: string): void => void lines.push({ fields, message });
  return { lines, debug: () => {}, info: log, warn: log, error: log };
}

async function ask(client: Client, method: string, path: string, headers = {}, body?: string) {
  const response = await client.request({ method, path, headers, ...(body === undefined ? {} : { body }) });
  const text = (await readBody(response.body, 'the server')).toString();
  return { status: response.status, text, json: (): Status => JSON.parse(text) as Status };
}

/** A stopped server's database, with Secrets in two namespaces. */
async function stopped(): Promise<string> {
  const file = join(folder, `${files++}.db`);
  await using server = await startTestServer({ storage: createSqliteStorage({ file }) });
  const secrets = server.client.resource(SECRETS);
  for (const name of ['good', 'victim']) {
    const metadata = { name, namespace: 'default', finalizers: ['example.com/held'] };
    await secrets.create({ metadata, data: { a: CONTENT } });
  }
  await secrets.create({ metadata: { name: 'elsewhere', namespace: 'kube-public' }, data: { a: CONTENT } });
  await server.client.resource(CONFIG_MAPS).create({ metadata: { name: 'map', namespace: 'default' } });
  return file;
}

function damage(file: string, where: string): void {
  using database = new DatabaseSync(file);
  const flipped = `CAST(replace(CAST(value AS TEXT), '"${CONTENT}"', '''${CONTENT}"') AS BLOB)`;
  database.exec(`UPDATE object SET value = ${flipped}, checksum = checksum + (value = ${flipped}) WHERE ${where}`);
}

describe('a Secret whose stored copy is damaged', () => {
  let server: TestServer<'ann'>;
  const logger = recorder();

  before(async () => {
    const file = await stopped();
    damage(file, `groupResource = 'secrets' AND name = 'victim'`);
    const rules = [{ apiGroups: [''], resources: ['secrets'], verbs: ['get', 'list', 'watch', 'delete'] }];
    server = await startTestServer({ storage: createSqliteStorage({ file }), logger, users: { ann: { rules } } });
  });
  after(() => server[Symbol.asyncDispose]());

  const TABLE = { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json' };
  const PROTOBUF = { accept: 'application/vnd.kubernetes.protobuf' };
  const METADATA = { accept: 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io' };
  const patch = { 'content-type': 'application/merge-patch+json' };
  const refused: [string, string, string, object?, string?][] = [
    ['get', 'GET', `${DEFAULT}/victim`],
    ['table of one', 'GET', `${DEFAULT}/victim`, TABLE],
    ['list', 'GET', DEFAULT],
    ['list of all namespaces', 'GET', '/api/v1/secrets'],
    ['page', 'GET', `${DEFAULT}?limit=1`],
    ['list from the cache', 'GET', `${DEFAULT}?resourceVersion=0`],
    ['list by label', 'GET', `${DEFAULT}?labelSelector=a%3Db`],
    ['list of the one', 'GET', `${DEFAULT}?fieldSelector=metadata.name%3Dvictim`],
    ['table', 'GET', DEFAULT, TABLE],
    ['protobuf', 'GET', DEFAULT, PROTOBUF],
    ['metadata', 'GET', DEFAULT, METADATA],
    ['watch', 'GET', `${DEFAULT}?watch=1&timeoutSeconds=1`],
    [
      'watch with initial events',
      'GET',
      `${DEFAULT}?watch=1&timeoutSeconds=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan`,
    ],
    ['update', 'PUT', `${DEFAULT}/victim`, {}, '{"kind":"Secret","apiVersion":"v1","metadata":{"name":"victim"}}'],
    ['patch', 'PATCH', `${DEFAULT}/victim`, patch, '{"data":{"b":"Yg=="}}'],
    ['delete', 'DELETE', `${DEFAULT}/victim`],
    ['delete of all', 'DELETE', DEFAULT],
  ];
  for (const [name, method, path, headers, body] of refused) {
    test(`${name}: 500 names it, and nothing of it`, async () => {
      const { status, text } = await ask(server.client, method, path, headers, body);
      assert.equal(status, 500, text);
      assert.match(text, /secrets \\?"victim\\?" in namespace \\?"default/);
      assert.ok(!text.includes(CONTENT), text);
      if (headers === PROTOBUF) return;
      const { reason, details, message } = JSON.parse(text) as Status;
      assert.equal(reason, 'StorageReadError');
      assert.equal(details?.causes?.[0]?.field, '/registry/secrets/default/victim');
      assert.match(message ?? '', new RegExp(`kubectl delete --raw '${DEFAULT}/victim\\?${OPTION}=true'`));
    });
  }

  test('its name is taken', async () => {
    const body = '{"kind":"Secret","apiVersion":"v1","metadata":{"name":"victim"}}';
    const { status } = await ask(server.client, 'POST', DEFAULT, { 'content-type': 'application/json' }, body);
    assert.equal(status, 500);
  });

  const served: [string, string][] = [
    ['another one', `${DEFAULT}/good`],
    ['another namespace', '/api/v1/namespaces/kube-public/secrets'],
    ['another name', `${DEFAULT}?fieldSelector=metadata.name%3Dgood`],
    ['another kind', '/api/v1/namespaces/default/configmaps'],
    ['readiness', '/readyz'],
  ];
  for (const [name, path] of served) {
    test(`${name} is served`, async () => assert.equal((await ask(server.client, 'GET', path)).status, 200));
  }

  test('log and metrics name it once, and nothing of it', async () => {
    const lines = logger.lines.filter(({ message }) => message.includes('is damaged and is not served'));
    assert.deepEqual(
      lines.map(({ fields }) => fields),
      [{ resource: 'secrets', namespace: 'default', name: 'victim' }],
    );
    assert.match(lines[0]?.message ?? '', /restore a backup, or delete it and create it again: kubectl delete --raw/);
    assert.ok(!JSON.stringify(logger.lines).includes(CONTENT));
    const { text } = await ask(server.client, 'GET', '/metrics');
    assert.match(text, /^apiserver_storage_damaged_objects 1$/m);
    assert.match(text, /^apiserver_storage_damaged_object\{resource="secrets",namespace="default",name="victim"\} 1$/m);
  });

  test('is deleted past its finalizers by who may, with the option alone', async () => {
    const { client, users } = server;
    const path = `${DEFAULT}/victim?${OPTION}=true`;
    const forbidden = await ask(users.ann.client, 'DELETE', path);
    assert.equal(forbidden.status, 403);
    assert.match(forbidden.text, /not permitted to do \\"unsafe-delete-ignore-read-errors\\"/);
    for (const [with_, says] of [
      [`${path}&gracePeriodSeconds=0`, /cannot be set together with \.gracePeriodSeconds/],
      [`${path}&propagationPolicy=Orphan`, /cannot be set together with \.propagationPolicy/],
      [`${path}&dryRun=All`, /cannot be set together with \.dryRun/],
      [`${DEFAULT}?${OPTION}=true`, /is not allowed with DELETECOLLECTION/],
    ] as const) {
      const refusal = await ask(client, 'DELETE', with_);
      assert.deepEqual([refusal.status, says.test(refusal.text)], [422, true], `${with_}: ${refusal.text}`);
    }
    assert.equal((await ask(client, 'DELETE', `${DEFAULT}/none?${OPTION}=true`)).status, 404);
    const deleted = await ask(client, 'DELETE', path);
    assert.deepEqual([deleted.status, deleted.json().status], [200, 'Success']);
    assert.equal((await ask(client, 'GET', `${DEFAULT}/victim`)).status, 404);
    assert.equal((await client.resource(SECRETS).list({ namespace: 'default' })).items.length, 1);
    assert.match((await ask(client, 'GET', '/metrics')).text, /^apiserver_storage_damaged_objects 0$/m);
  });
});

test('a server starts whichever of its own objects is damaged, and lets an administrator in', async () => {
  const file = await stopped();
  const own = rows(file).filter(
    ({ name }, at, all) =>
      ['cluster-admin', 'view', 'kubernetes', 'default'].includes(name) ||
      all.findIndex(({ groupResource }) => groupResource === all[at]?.groupResource) === at,
  );
  assert.ok(own.length > 12, `${own.length} objects`);
  for (const { id, groupResource, name } of own) {
    const copy = join(folder, `${files++}.db`);
    await copyFile(file, copy);
    damage(copy, `id = ${id}`);
    const logger = recorder();
    await using server = await startTestServer({ storage: createSqliteStorage({ file: copy }), logger });
    assert.equal((await ask(server.client, 'GET', '/readyz')).status, 200, `${groupResource} ${name}`);
    const told = logger.lines.filter(({ message }) => message.includes('is damaged and is not served'));
    assert.deepEqual(
      told.map(({ fields }) => 'name' in fields && fields.name),
      [name],
    );
  }
});

function rows(file: string): { id: number; groupResource: string; name: string }[] {
  using database = new DatabaseSync(file, { readOnly: true });
  return database
    .prepare('SELECT id, groupResource, name FROM object')
    .all()
    .map(({ id, groupResource, name }) => ({
      id: Number(id),
      groupResource: String(groupResource),
      name: String(name),
    }));
}
