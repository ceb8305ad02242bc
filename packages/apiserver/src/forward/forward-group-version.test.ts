import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { type Client, createClient, createTransport, type Transport, type TransportRequest } from '@asterism/client';
import { failure, type KubeObject } from '@asterism/machinery';
import { createApiServer } from '../api-server.ts';
import type { UserInfo } from '../contract/user-info.ts';
import { createMemoryStorage } from '../storage/memory-storage.ts';
import { forwardGroupVersion } from './forward-group-version.ts';
import { ENTRY, MAKERS, widget, WIDGETS, withForwarding } from './testing/forwarding.ts';

async function text(
  client: Client,
  request: TransportRequest,
): Promise<{ status: number; body: string; headers: Record<string, unknown> }> {
  const { status, headers, body } = await client.request(request);
  const pieces: Buffer[] = [];
  for await (const piece of body) pieces.push(piece as Buffer);
  return { status, headers, body: Buffer.concat(pieces).toString() };
}

const PATH = '/apis/example.com/v1/namespaces/default/widgets';

test('every verb is the host’s, and so are Tables, warnings, refusals and content types', async () => {
  await withForwarding(async ({ running, clientOf }) => {
    const client = clientOf(MAKERS);
    const widgets = client.resource(WIDGETS);
    await widgets.create(widget('a'));
    await widgets.patch({ namespace: 'default', name: 'a' }, { type: 'merge', body: { spec: { size: 2 } } });
    await widgets.apply(widget('b', 3), { fieldManager: 'tester' });
    await widgets.patch(
      { namespace: 'default', name: 'b' },
      { type: 'merge', body: { status: { fine: true } } },
      { subresource: 'status' },
    );
    const there = await running.host.client.resource(WIDGETS).list({ namespace: 'default' });
    assert.deepEqual(
      there.items.map(({ metadata, spec, status }) => [metadata?.name, spec, status]),
      [
        ['a', { size: 2 }, undefined],
        ['b', { size: 3 }, { fine: true }],
      ],
    );
    const table = await text(client, {
      method: 'GET',
      path: `${PATH}?fieldSelector=metadata.name%3Db`,
      headers: { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' },
    });
    const { kind, rows, columnDefinitions } = JSON.parse(table.body) as {
      kind: string;
      rows: object[];
      columnDefinitions: { name: string }[];
    };
    assert.deepEqual([kind, rows.length, columnDefinitions.map(({ name }) => name)], ['Table', 1, ['Name', 'Size']]);
    assert.match(String(table.headers['warning']), /299 - .*deprecated/);
    const protobuf = { accept: 'application/vnd.kubernetes.protobuf' };
    assert.equal((await text(client, { method: 'GET', path: PATH, headers: protobuf })).status, 406);
    const strict = await text(client, {
      method: 'POST',
      path: `${PATH}?fieldValidation=Strict`,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ ...widget('c'), spec: { sise: 1 } }),
    });
    assert.deepEqual([strict.status, /unknown field \\"spec.sise\\"/.test(strict.body)], [400, true]);
    await widgets.delete({ namespace: 'default', name: 'a' });
    await assert.rejects(widgets.get({ namespace: 'default', name: 'a' }), { code: 404 });
    await assert.rejects(
      clientOf({ username: 'otto', groups: ['guests'] })
        .resource(WIDGETS)
        .create(widget('d')),
      {
        code: 403,
        message: /User "otto" cannot create resource "widgets"/,
      },
    );
  });
});

test('discovery and OpenAPI name what was given', async () => {
  await withForwarding(async ({ clientOf }) => {
    const client = clientOf(MAKERS);
    const resources = (await client.getJson('/apis/example.com/v1')) as {
      resources: { name: string; shortNames?: string[] }[];
    };
    assert.deepEqual(
      resources.resources.map(({ name }) => name),
      ['widgets', 'widgets/status'],
    );
    const { paths } = (await client.getJson('/openapi/v3')) as { paths: Record<string, { serverRelativeURL: string }> };
    const document = (await client.getJson(paths['apis/example.com/v1']!.serverRelativeURL)) as {
      components: { schemas: Record<string, { properties: { spec: object } }> };
    };
    assert.deepEqual(
      document.components.schemas['com.example.v1.Widget']?.properties.spec,
      ENTRY.schema?.properties?.['spec'],
    );
  });
});

test('a watch streams, and ends at the host when its caller leaves', async () => {
  await withForwarding(async ({ running, sent, clientOf }) => {
    const end = new AbortController();
    const opened = Promise.withResolvers<void>();
    const seen: string[] = [];
    const events = clientOf(MAKERS)
      .resource(WIDGETS)
      .watch({ namespace: 'default', signal: end.signal, onOpen: opened.resolve });
    const watching = (async () => {
      for await (const { type, object } of events) {
        seen.push(`${type} ${(object as KubeObject).metadata?.name}`);
        if (seen.length === 2) return;
      }
    })();
    await opened.promise;
    await running.host.client.resource(WIDGETS).create(widget('one'));
    await running.host.client.resource(WIDGETS).delete({ namespace: 'default', name: 'one' });
    await watching;
    assert.deepEqual(seen, ['ADDED one', 'DELETED one']);
    const { long, signal } = sent.at(-1)!;
    assert.equal(long, true);
    if (!signal!.aborted) await once(signal!, 'abort');
  });
});

test('the host is told who calls, and given none of his credentials', async () => {
  await withForwarding(async ({ sent, clientOf }) => {
    const headers = { cookie: 'c=1', 'x-remote-user': 'root', 'x-remote-group': 'system:masters' };
    const { status } = await text(clientOf(MAKERS), { method: 'GET', path: PATH, headers });
    assert.equal(status, 200);
    const { accept: _, 'user-agent': __, 'audit-id': auditId, ...rest } = sent[0]!.headers!;
    assert.match(String(auditId), /^[\da-f-]{36}$/);
    assert.deepEqual(rest, {
      'impersonate-user': 'mia',
      'impersonate-uid': '7',
      'impersonate-group': ['makers'],
      'impersonate-extra-example.com%2fscopes': ['a', 'b'],
    });
    const claim = await text(clientOf(MAKERS), { method: 'GET', path: PATH, headers: { 'impersonate-user': 'root' } });
    assert.equal(claim.status, 403);
    assert.equal(sent.length, 1);
  });
});

test('a caller who is nobody is nobody there; a master is one only where this server may act as one', async () => {
  await withForwarding(async ({ running, sent, clientOf }) => {
    const nobody = createClient({
      transport: createTransport({ server: running.url, caData: running.ca, credential: { kind: 'none' } }),
    });
    const refused = await text(nobody, { method: 'GET', path: PATH });
    assert.deepEqual([refused.status, /User \\"system:anonymous\\" cannot list/.test(refused.body)], [403, true]);
    assert.deepEqual(sent[0]!.headers!['impersonate-group'], ['system:unauthenticated']);
    await nobody.transport.close();
    const master = await text(clientOf({ username: 'root', groups: ['system:masters'] }), {
      method: 'GET',
      path: PATH,
    });
    assert.equal(master.status, 403);
    assert.deepEqual(sent[1]!.headers!['impersonate-group'], ['system:masters']);
  });
});

test('F1: a name that would become another one on its way is refused', async (t) => {
  await withForwarding(async ({ running, sent }) => {
    const named = (user: Partial<UserInfo>): UserInfo => ({ username: 'u', groups: [], ...user });
    const callers: [string, UserInfo][] = [
      ['no name: the host would take the request for one of this server', named({ username: '' })],
      ['a space before', named({ username: ' root' })],
      ['a space behind', named({ username: 'root\t' })],
      ['a line break', named({ username: 'u\r\nImpersonate-Group: system:masters' })],
      ['a group that is cut', named({ groups: ['system:masters '] })],
      ['a group without a name', named({ groups: [''] })],
      ['a uid that is cut', named({ uid: ' 1' })],
      ['an extra key that falls together with another', named({ extra: { Scopes: ['x'] } })],
      ['an extra value that is cut', named({ extra: { scopes: [' x'] } })],
    ];
    for (const [name, user] of callers) {
      await t.test(name, async () => {
        const client = createClient({ transport: running.server.transport(user) });
        const { status, body } = await text(client, { method: 'GET', path: PATH });
        assert.deepEqual([status, /cannot be passed on/.test(body)], [403, true]);
        assert.equal(sent.length, 0);
      });
    }
    await t.test('text beyond ASCII comes through', async () => {
      const client = createClient({ transport: running.server.transport(named({ username: 'Zoë 李' })) });
      const { body } = await text(client, { method: 'GET', path: PATH });
      assert.match(body, /User \\"Zoë 李\\" cannot list/);
    });
  });
});

test('beforeCreate is called for what may be new, and for callers who may make it', async () => {
  await withForwarding(async ({ created, clientOf, running }) => {
    const maker = clientOf(MAKERS).resource(WIDGETS);
    await maker.create(widget('a'));
    assert.deepEqual(
      created.map(({ verb, namespace, name }) => [verb, namespace, name]),
      [['create', 'default', undefined]],
    );
    await maker.apply(widget('b'), { fieldManager: 'tester' });
    const { metadata, ...rest } = await maker.get({ namespace: 'default', name: 'b' });
    await maker.update({ ...rest, metadata: metadata! });
    assert.deepEqual(
      created.map(({ verb, name }) => [verb, name]),
      [
        ['create', undefined],
        ['patch', 'b'],
        ['update', 'b'],
      ],
    );
    created.length = 0;
    await maker.patch({ namespace: 'default', name: 'b' }, { type: 'merge', body: { spec: { size: 5 } } });
    await maker.patch(
      { namespace: 'default', name: 'b' },
      { type: 'apply', body: widget('b') },
      { subresource: 'status', fieldManager: 'x' },
    );
    await maker.list({ namespace: 'default' });
    // A guest may patch, and not create.
    const guest = clientOf({ username: 'gus', groups: ['guests'] }).resource(WIDGETS);
    await assert.rejects(guest.create(widget('c')), { code: 403 });
    await assert.rejects(guest.apply(widget('c'), { fieldManager: 'x' }), { code: 403 });
    await maker.delete({ namespace: 'default', name: 'b' });
    assert.equal(created.length, 0);
    assert.equal((await running.host.client.resource(WIDGETS).list({ namespace: 'default' })).items.length, 1);
  });
});

test('when beforeCreate refuses, nothing is sent', async () => {
  const refuse = (): Promise<void> => Promise.reject(failure(409, 'the namespace is being deleted'));
  await withForwarding(async ({ sent, clientOf }) => {
    await assert.rejects(clientOf(MAKERS).resource(WIDGETS).create(widget('a')), { code: 409 });
    assert.equal(sent.length, 0);
  }, refuse);
});

test('a path that the host could read as another one does not leave', async () => {
  await withForwarding(async ({ sent, running }) => {
    const client = createClient({ transport: running.server.transport(MAKERS) });
    for (const path of [
      `${PATH}/a/../../../../../../api/v1/secrets`,
      `${PATH}/%2e%2e`,
      `${PATH}/a%2Fstatus`,
      `${PATH}/a%0A`,
    ]) {
      assert.equal((await text(client, { method: 'GET', path })).status, 400, path);
    }
    assert.equal(sent.length, 0);
  });
});

test('a host that is away is said to be', async () => {
  await withForwarding(async ({ running }) => {
    const client = createClient({ transport: running.server.transport(MAKERS) });
    await running.host.stop();
    const { status, body, headers } = await text(client, { method: 'GET', path: PATH });
    assert.deepEqual([status, headers['retry-after']], [503, '1']);
    assert.match(body, /serves example.com\/v1 \(the-host\) cannot be reached/);
  });
});

test('a server whose callers are known to nobody else forwards for none of them', async () => {
  const transport = {} as Transport;
  const extension = forwardGroupVersion({ group: 'example.com', version: 'v1', transport, resources: [ENTRY] });
  await using server = createApiServer({ storage: createMemoryStorage(), controllers: false });
  await server.start();
  assert.throws(() => server.addExtension(extension), /needs `delegation`/);
});
