import assert from 'node:assert/strict';
import { once } from 'node:events';
import http2 from 'node:http2';
import { Agent, request as httpsRequest, type RequestOptions } from 'node:https';
import type { IncomingMessage } from 'node:http';
import { after, before, describe, test } from 'node:test';
import { connect, type TLSSocket } from 'node:tls';
import { gunzipSync } from 'node:zlib';
import { until } from '@asterism/client/testing';
import { CONFIG_MAPS, type KubeObject } from '@asterism/machinery';
import { startTestServer, type TestServer } from '../../testing/index.ts';

const MAPS = '/api/v1/namespaces/default/configmaps';
const TABLE = 'application/json;as=Table;v=v1;g=meta.k8s.io';

let server: TestServer;
let token: string;
let agent: Agent;

before(async () => {
  server = await startTestServer();
  token = server.tokenFor({ username: 'admin', groups: ['system:masters'] });
  agent = new Agent({ ca: server.ca.cert, keepAlive: true });
});
after(async () => {
  agent.destroy();
  await server.stop();
});

interface Answer {
  status: number;
  headers: IncomingMessage['headers'];
  body: Buffer;
  json(): KubeObject;
}

/** One HTTP/1.1 request. */
async function send(path: string, options: RequestOptions & { body?: string | Buffer } = {}): Promise<Answer> {
  const { body, ...rest } = options;
  const headers = { authorization: `Bearer ${token}`, ...(rest.headers as object | undefined) };
  const request = httpsRequest(new URL(server.url), { agent, ...rest, path, headers });
  request.end(body);
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  const pieces: Buffer[] = [];
  for await (const piece of response) pieces.push(piece as Buffer);
  const all = Buffer.concat(pieces);
  return {
    status: response.statusCode!,
    headers: response.headers,
    body: all,
    json: () => JSON.parse(all.toString()) as KubeObject,
  };
}

function post(path: string, object: object): Promise<Answer> {
  return send(path, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(object) });
}

function configMap(name: string, data: Record<string, string> = {}) {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data };
}

describe('requests', () => {
  test('an object is created, read, listed and deleted', async () => {
    const created = await post(MAPS, configMap('life', { a: '1' }));
    assert.equal(created.status, 201);
    assert.equal((await send(`${MAPS}/life`)).json().metadata?.uid, created.json().metadata?.uid);
    const list = (await send(MAPS)).json() as { kind: string; items: KubeObject[] };
    assert.equal(list.kind, 'ConfigMapList');
    const item = list.items.find(({ metadata }) => metadata?.name === 'life');
    assert.deepEqual([item?.data, item?.kind], [{ a: '1' }, undefined]);
    assert.equal((await send(`${MAPS}/life`, { method: 'DELETE' })).json().status, 'Success');
    assert.equal((await send(`${MAPS}/life`)).status, 404);
  });

  test('HEAD answers with the headers alone', async () => {
    const { status, body } = await send('/healthz', { method: 'HEAD' });
    assert.deepEqual([status, body.length], [200, 0]);
  });

  test('an encoded path is the path that it encodes, for authorization and for the handler', async () => {
    assert.equal((await send('/%76ersion')).status, 200);
    assert.equal((await send('/%6detrics')).status, 200);
    assert.equal((await send('/apis%2Fapps')).json().kind, 'APIGroup');
    assert.equal((await send('/metrics/')).status, 404);
    assert.equal((await send('/version/')).status, 200);
  });

  test('HEAD reads no object', async () => {
    for (const path of [MAPS, `${MAPS}/kube-root-ca.crt`, '/api/v1/watch/configmaps', '/api/v1/namespaces/default']) {
      assert.equal((await send(path, { method: 'HEAD' })).status, 405, path);
    }
  });

  test('every answer says by which id the audit knows it', async () => {
    assert.match(String((await send('/version')).headers['audit-id']), /^[0-9a-f-]{36}$/);
    assert.equal((await send('/version', { headers: { 'audit-id': 'mine' } })).headers['audit-id'], 'mine');
  });

  test('unknown fields warn, and with Strict they refuse', async () => {
    const object = { ...configMap('odd'), nope: 1 };
    const warned = await post(`${MAPS}?dryRun=All`, object);
    assert.deepEqual([warned.status, warned.headers.warning], [201, '299 - "unknown field \\"nope\\""']);
    const refused = await post(`${MAPS}?dryRun=All&fieldValidation=Strict`, object);
    assert.equal(refused.status, 400);
    assert.match(String(refused.json().message), /strict decoding error: unknown field "nope"/);
  });

  test('keys that stand twice warn', async () => {
    const body = '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"twice"},"data":{"a":"1","a":"2"}}';
    const { headers } = await send(`${MAPS}?dryRun=All`, { method: 'POST', body });
    assert.equal(headers.warning, '299 - "duplicate field \\"data.a\\""');
  });

  test('YAML goes in and comes out', async () => {
    const body = 'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: yaml\ndata:\n  k: |\n    line\n';
    const headers = { 'content-type': 'application/yaml', accept: 'application/yaml' };
    const answer = await send(`${MAPS}?dryRun=All`, { method: 'POST', headers, body });
    assert.deepEqual([answer.status, answer.headers['content-type']], [201, 'application/yaml']);
    assert.match(answer.body.toString(), /^data:\n {2}k: \|\n {4}line\n/m);
  });

  test('an error is YAML for those who take nothing else', async () => {
    const answer = await send(`${MAPS}/none`, { headers: { accept: 'application/yaml' } });
    assert.match(answer.body.toString(), /^reason: NotFound$/m);
  });

  test('a body above 3 MiB is refused and the connection lives on', async () => {
    const answer = await post(MAPS, configMap('big', { a: 'x'.repeat(3_300_000) }));
    assert.equal(answer.status, 413);
    assert.equal(answer.json().message, 'Request entity too large: limit is 3145728');
    assert.equal((await send('/version')).status, 200);
  });

  test('what is not served is 404, and what it cannot do 405', async () => {
    assert.equal((await send('/apis/apps/v1/chairs')).status, 404);
    assert.equal((await send('/api/v1/namespaces/default/nodes')).status, 404);
    assert.equal((await send(`${MAPS}/x/status`)).status, 404);
    assert.equal((await send('/api/v1/namespaces', { method: 'DELETE' })).status, 405);
    assert.equal((await send('/api/v1/configmaps', { method: 'DELETE' })).status, 405);
    assert.equal((await post('/api/v1/configmaps', configMap('x'))).status, 405);
    assert.equal((await send('/nothing')).body.toString(), '404 page not found\n');
  });

  test('a Table has columns, cells and the metadata of its objects', async () => {
    await post(MAPS, configMap('tabled', { a: '1' }));
    const answer = await send(`${MAPS}/tabled`, { headers: { accept: `${TABLE},application/json` } });
    const table = answer.json() as unknown as { kind: string; rows: { cells: unknown[]; object: KubeObject }[] };
    assert.equal(table.kind, 'Table');
    assert.deepEqual(table.rows[0]?.cells.slice(0, 2), ['tabled', 1]);
    assert.deepEqual([table.rows[0]?.object.kind, table.rows[0]?.object.data], ['PartialObjectMetadata', undefined]);
    const whole = await send(`${MAPS}/tabled?includeObject=Object`, { headers: { accept: TABLE } });
    assert.deepEqual((whole.json() as unknown as typeof table).rows[0]?.object.data, { a: '1' });
  });

  test('metadata alone comes as PartialObjectMetadata', async () => {
    await post(MAPS, configMap('partial', { a: '1' }));
    const accept = 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io';
    const list = (await send(MAPS, { headers: { accept } })).json() as unknown as { kind: string; items: KubeObject[] };
    assert.equal(list.kind, 'PartialObjectMetadataList');
    assert.ok(list.items.every(({ data, metadata }) => data === undefined && metadata?.name));
  });

  test('a large answer is compressed for those who take gzip', async () => {
    await post(MAPS, configMap('large', { a: 'x'.repeat(200_000) }));
    const plain = await send(`${MAPS}?labelSelector=`);
    const zipped = await send(MAPS, { headers: { 'accept-encoding': 'gzip' } });
    assert.equal(plain.headers['content-encoding'], undefined);
    assert.equal(Number(plain.headers['content-length']), plain.body.length);
    assert.equal(zipped.headers['content-encoding'], 'gzip');
    assert.ok(zipped.body.length < plain.body.length / 10);
    assert.deepEqual(JSON.parse(gunzipSync(zipped.body).toString()), plain.json());
  });

  test('the same server speaks HTTP/2', async () => {
    const session = http2.connect(server.url, { ca: server.ca.cert });
    const stream = session.request({ ':path': '/version', authorization: `Bearer ${token}` });
    const [headers] = (await once(stream, 'response')) as [http2.IncomingHttpHeaders & { ':status': number }];
    const pieces: Buffer[] = [];
    for await (const piece of stream) pieces.push(piece as Buffer);
    assert.equal(headers[':status'], 200);
    assert.match(Buffer.concat(pieces).toString(), /"gitVersion"/);
    session.close();
  });

  test('a method that there is not is nobody’s right', async () => {
    const session = http2.connect(server.url, { ca: server.ca.cert });
    const authorization = `Bearer ${server.tokenFor({ username: 'bob', groups: [] })}`;
    const path = '/api/v1/namespaces/default/configmaps';
    const stream = session.request({ ':method': 'FOO', ':path': path, authorization });
    const pieces: Buffer[] = [];
    for await (const piece of stream) pieces.push(piece as Buffer);
    session.close();
    const { code, message } = JSON.parse(Buffer.concat(pieces).toString()) as { code: number; message: string };
    const where = 'resource "configmaps" in API group "" in the namespace "default"';
    assert.deepEqual([code, message], [403, `configmaps is forbidden: User "bob" cannot  ${where}`]);
  });
});

describe('watches', () => {
  test('events come as one line each, and the server knows when the client has left', async () => {
    const session = http2.connect(server.url, { ca: server.ca.cert });
    const stream = session.request({
      ':path': `${MAPS}?watch=1&resourceVersion=${(await send(MAPS)).json().metadata?.resourceVersion}`,
      authorization: `Bearer ${token}`,
    });
    await once(stream, 'response');
    assert.match(await metric('apiserver_longrunning_requests'), /verb="WATCH".* 1$/m);
    await post(MAPS, configMap('seen'));
    const [line] = (await once(stream, 'data')) as [Buffer];
    const event = JSON.parse(line.toString()) as { type: string; object: KubeObject };
    assert.deepEqual([event.type, event.object.metadata?.name], ['ADDED', 'seen']);
    stream.close();
    await once(stream, 'close');
    session.close();
    await until(async () => assert.doesNotMatch(await metric('apiserver_longrunning_requests'), / [1-9]$/m));
  });

  test('timeoutSeconds ends a watch', async () => {
    const { status, body } = await send(
      `${MAPS}?watch=1&timeoutSeconds=1&resourceVersion=0&fieldSelector=metadata.name=none`,
    );
    assert.deepEqual([status, body.length], [200, 0]);
  });

  test('a watch of Tables names its columns once', async () => {
    await post(MAPS, configMap('one'));
    await post(MAPS, configMap('two'));
    const path = `${MAPS}?watch=1&timeoutSeconds=1&resourceVersion=0`;
    const { body } = await send(path, { headers: { accept: TABLE } });
    const tables = body
      .toString()
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { object: { kind: string; columnDefinitions: unknown } });
    assert.ok(tables.length >= 2);
    assert.ok(Array.isArray(tables[0]?.object.columnDefinitions));
    assert.deepEqual([...new Set(tables.slice(1).map(({ object }) => object.columnDefinitions))], [null]);
  });

  test('the client library follows what happens', async () => {
    const events: string[] = [];
    const end = new AbortController();
    const watching = (async () => {
      const options = { namespace: 'default', fieldSelector: 'metadata.name=followed', signal: end.signal };
      for await (const event of server.client.resource(CONFIG_MAPS).watch(options)) {
        events.push(event.type);
        if (event.type === 'DELETED') return;
      }
    })();
    await post(MAPS, configMap('followed'));
    await until(() => Promise.resolve(assert.deepEqual(events, ['ADDED'])));
    await send(`${MAPS}/followed`, { method: 'DELETE' });
    await watching;
    end.abort();
    assert.deepEqual(events, ['ADDED', 'DELETED']);
  });
});

describe('clients that misbehave', () => {
  test('one that stops reading a list does not hold others up', async () => {
    const socket = await rawConnection();
    socket.pause();
    socket.write(`GET ${MAPS} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${token}\r\n\r\n`);
    assert.equal((await send(MAPS)).status, 200);
    socket.destroy();
  });

  test('one that leaves in the middle of its body is forgotten', async () => {
    const socket = await rawConnection();
    socket.write(
      `POST ${MAPS} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${token}\r\ncontent-length: 100\r\n\r\n{"a`,
    );
    socket.destroy();
    assert.equal((await send('/healthz')).body.toString(), 'ok');
  });

  test('nonsense on the wire ends the connection, not the server', async () => {
    const socket = await rawConnection();
    const closed = once(socket, 'close');
    socket.write('\u0000\u0001\u0002 nonsense\r\n\r\n');
    socket.resume();
    await closed;
    assert.equal((await send('/healthz')).status, 200);
  });

  test('an Upgrade that nobody takes is answered', async () => {
    const socket = await rawConnection();
    socket.write(
      `GET ${MAPS} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${token}\r\nconnection: Upgrade\r\nupgrade: x\r\n\r\n`,
    );
    const [head] = (await once(socket, 'data')) as [Buffer];
    assert.match(head.toString(), /^HTTP\/1\.1 200 /);
    socket.destroy();
  });

  async function rawConnection(): Promise<TLSSocket> {
    const { port } = new URL(server.url);
    const socket = connect({ port: Number(port), host: '127.0.0.1', ca: server.ca.cert, ALPNProtocols: ['http/1.1'] });
    socket.on('error', () => {});
    await once(socket, 'secureConnect');
    return socket;
  }
});

async function metric(name: string): Promise<string> {
  const { body } = await send('/metrics');
  return body
    .toString()
    .split('\n')
    .filter((line) => line.startsWith(name))
    .join('\n');
}

test('what is posted to be answered, and not to be stored, has the types of its kind too', async () => {
  const rows: [path: string, spec: object, fault: RegExp][] = [
    [
      '/apis/authentication.k8s.io/v1/tokenreviews',
      { token: 5 },
      /number into Go struct field .*spec\.token of type string/,
    ],
    [
      '/apis/authentication.k8s.io/v1/tokenreviews',
      { token: 'a', audiences: 'b' },
      /spec\.audiences of type \[\]string/,
    ],
    [
      '/apis/authorization.k8s.io/v1/subjectaccessreviews',
      { groups: 'system:masters' },
      /spec\.groups of type \[\]string/,
    ],
    [
      '/api/v1/namespaces/default/serviceaccounts/default/token',
      { expirationSeconds: '3600' },
      /spec\.expirationSeconds of type int64/,
    ],
  ];
  for (const [path, spec, fault] of rows) {
    const { status, body } = await post(path, { spec });
    assert.equal(status, 400, path);
    assert.match(body.toString(), fault);
  }
});
