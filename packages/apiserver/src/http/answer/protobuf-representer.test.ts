import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { CONFIG_MAPS, CUSTOM_RESOURCE_DEFINITIONS, type KubeObject, loadProtobuf } from '@asterism/machinery';
import { startTestServer, type TestServer } from '../../testing/index.ts';

const PROTOBUF = 'application/vnd.kubernetes.protobuf';
const MAPS = '/api/v1/namespaces/default/configmaps';
const WIDGETS = '/apis/example.com/v1/widgets';
const METADATA = 'as=PartialObjectMetadata;g=meta.k8s.io;v=v1';

let server: TestServer;

before(async () => {
  server = await startTestServer();
  const maps = server.client.resource(CONFIG_MAPS);
  for (let i = 0; i < 80; i++) {
    await maps.create({
      metadata: { name: `m${String(i).padStart(2, '0')}`, namespace: 'default' },
      data: { i: `${i}` },
    });
  }
  await server.client.resource(CUSTOM_RESOURCE_DEFINITIONS).create({
    metadata: { name: 'widgets.example.com' },
    spec: {
      group: 'example.com',
      scope: 'Cluster',
      names: { plural: 'widgets', kind: 'Widget' },
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
    },
  });
  const signal = AbortSignal.timeout(5_000);
  while ((await ask(WIDGETS)).status === 404) signal.throwIfAborted();
});

after(async () => await server.stop());

async function ask(path: string, accept = PROTOBUF) {
  const response = await server.client.request({ method: 'GET', path, headers: { accept } });
  const pieces: Buffer[] = [];
  for await (const piece of response.body) pieces.push(piece as Buffer);
  const body = Buffer.concat(pieces);
  return { status: response.status, type: response.headers['content-type'], body };
}

async function decoded(body: Uint8Array): Promise<KubeObject & { items?: KubeObject[] }> {
  return (await loadProtobuf()).decode(body) as KubeObject & { items?: KubeObject[] };
}

describe('answers as protobuf', () => {
  test('an object', async () => {
    const { status, type, body } = await ask(`${MAPS}/m07`);
    assert.deepEqual([status, type], [200, PROTOBUF]);
    const object = await decoded(body);
    assert.deepEqual(object['data'], { i: '7' });
    const asJson = JSON.parse((await ask(`${MAPS}/m07`, 'application/json')).body.toString()) as KubeObject;
    assert.deepEqual(object, asJson);
  });

  test('a list, with as many bytes as it says', async () => {
    const { type, body } = await ask(`${MAPS}?limit=70`);
    assert.equal(type, PROTOBUF);
    const list = await decoded(body);
    assert.equal(list.kind, 'ConfigMapList');
    assert.equal(list.items?.length, 70);
    assert.ok(list.metadata && 'continue' in list.metadata);
    assert.ok(list.items?.some(({ metadata }) => metadata?.name === 'm68'));
  });

  test('an error', async () => {
    const { status, type, body } = await ask(`${MAPS}/nothing`);
    assert.deepEqual([status, type], [404, PROTOBUF]);
    assert.equal((await decoded(body))['reason'], 'NotFound');
  });

  test('discovery, legacy and aggregated', async () => {
    const list = await decoded((await ask('/api/v1')).body);
    assert.equal(list.kind, 'APIResourceList');
    const { type, body } = await ask('/apis', `${PROTOBUF};g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList`);
    assert.equal(type, `${PROTOBUF};g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList`);
    assert.ok((await decoded(body)).items?.some(({ metadata }) => metadata?.name === 'apps'));
  });

  test('metadata alone, of one and of many', async () => {
    const one = await decoded((await ask(`${MAPS}/m01`, `${PROTOBUF};${METADATA}`)).body);
    assert.equal(one.kind, 'PartialObjectMetadata');
    assert.equal(one.metadata?.name, 'm01');
    assert.ok(!('data' in one));
    const many = await decoded((await ask(MAPS, `${PROTOBUF};${METADATA.replace('data;', 'dataList;')}`)).body);
    assert.equal(many.kind, 'PartialObjectMetadataList');
    assert.ok(many.items?.some(({ metadata }) => metadata?.name === 'm01'));
  });

  test('a Table never', async () => {
    const { status, type } = await ask(MAPS, `${PROTOBUF};as=Table;g=meta.k8s.io;v=v1`);
    assert.deepEqual([status, type], [406, 'application/json']);
  });

  test('a custom resource never, but its metadata', async () => {
    const { status, body } = await ask(WIDGETS);
    assert.equal(status, 406);
    const { message = '' } = (await decoded(body)) as { message?: string };
    assert.match(message, /application\/json, application\/yaml, application\/vnd\.kubernetes\.protobuf$/);
    const list = await decoded((await ask(WIDGETS, `${PROTOBUF};${METADATA.replace('data;', 'dataList;')}`)).body);
    assert.equal(list.kind, 'PartialObjectMetadataList');
  });
});

describe('what cannot be answered with', () => {
  const list = METADATA.replace('data;', 'dataList;');
  const rows: [what: string, path: string, accept: string, message: string][] = [
    [
      'the metadata of one, of many',
      MAPS,
      `application/json;${METADATA}`,
      'you requested PartialObjectMetadata, but the requested object is a list (*core.ConfigMapList)',
    ],
    [
      'the metadata of many, of one',
      `${MAPS}/m01`,
      `application/json;${list}`,
      'you requested PartialObjectMetadataList, but the requested object is not a list (*core.ConfigMap)',
    ],
    [
      'the metadata of one, of many custom resources',
      WIDGETS,
      `application/json;${METADATA}`,
      'you requested PartialObjectMetadata, but the requested object is a list (*unstructured.UnstructuredList)',
    ],
    [
      'a media type that no route has',
      `${MAPS}/m01`,
      'application/*',
      '406: Not Acceptable\n\nAvailable representations: application/json, application/yaml, application/vnd.kubernetes.protobuf',
    ],
    [
      'a media type that no route of lists and watches has',
      MAPS,
      'text/html',
      '406: Not Acceptable\n\nAvailable representations: application/json, application/yaml, application/vnd.kubernetes.protobuf, application/json;stream=watch, application/vnd.kubernetes.protobuf;stream=watch',
    ],
  ];
  for (const [what, path, accept, message] of rows) {
    test(what, async () => {
      const { status, body } = await ask(path, accept);
      assert.equal(status, 406);
      assert.equal((JSON.parse(body.toString()) as { message: string }).message, message);
    });
  }
});

describe('watches as protobuf', () => {
  async function watch(query: string, count: number) {
    const controller = new AbortController();
    const response = await server.client.request({
      method: 'GET',
      path: `${MAPS}?watch=1&${query}`,
      headers: { accept: PROTOBUF },
      signal: controller.signal,
    });
    assert.equal(response.headers['content-type'], `${PROTOBUF};stream=watch`);
    const events: { type: string; object: KubeObject }[] = [];
    let rest = Buffer.alloc(0);
    try {
      for await (const piece of response.body) {
        rest = Buffer.concat([rest, piece as Buffer]);
        while (rest.length >= 4 && rest.length >= 4 + rest.readUInt32BE()) {
          const frame = rest.subarray(4, 4 + rest.readUInt32BE());
          rest = rest.subarray(4 + frame.length);
          const type = frame.toString('latin1', 2, 2 + frame[1]!);
          events.push({ type, object: await decoded(frame.subarray(frame.indexOf('k8s\0'))) });
        }
        if (events.length >= count) break;
      }
    } finally {
      controller.abort();
    }
    return events;
  }

  test('events are frames, each with its object', async () => {
    const events = await watch('fieldSelector=metadata.name%3Dm03', 1);
    assert.deepEqual(
      events.map(({ type, object }) => [type, object.kind, object.metadata?.name]),
      [['ADDED', 'ConfigMap', 'm03']],
    );
  });

  test('initial events end with a bookmark', async () => {
    const query = 'sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true';
    const events = await watch(`${query}&fieldSelector=metadata.name%3Dm03`, 2);
    const [added, bookmark] = events;
    assert.deepEqual([added?.type, bookmark?.type], ['ADDED', 'BOOKMARK']);
    assert.deepEqual(bookmark?.object.metadata?.annotations, { 'k8s.io/initial-events-end': 'true' });
  });
});
