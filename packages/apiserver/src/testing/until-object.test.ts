import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { CONFIG_MAPS } from '@asterism/machinery';
import { startTestServer, type TestServer } from './test-server.ts';
import { untilObject } from './until-object.ts';

describe('untilObject', () => {
  let server: TestServer;
  before(async () => {
    server = await startTestServer();
  });
  after(() => server.stop());

  const ref = (name: string) => ({ namespace: 'default', name });
  const create = (name: string, data = { size: '1' }) =>
    server.inside.resource(CONFIG_MAPS).create({ metadata: ref(name), data });

  test('resolves with the object as it is, as it becomes, and without it when it is deleted', async () => {
    await create('other', { size: '2' });
    const coming = untilObject(server.client, CONFIG_MAPS, ref('a'), (found) => found !== undefined);
    await create('a');
    assert.equal((await coming)?.data?.['size'], '1');
    const changed = untilObject(server.client, CONFIG_MAPS, ref('a'), (found) => found?.data?.['size'] === '2');
    await server.inside.resource(CONFIG_MAPS).patch(ref('a'), { type: 'merge', body: { data: { size: '2' } } });
    assert.equal((await changed)?.metadata?.name, 'a');
    const gone = untilObject(server.client, CONFIG_MAPS, ref('a'), (found) => found === undefined);
    await server.inside.resource(CONFIG_MAPS).delete(ref('a'));
    assert.equal(await gone, undefined);
  });

  test('rejects in time, with the object, and early by its signal', async () => {
    await create('b');
    const never = (options: object) => untilObject(server.client, CONFIG_MAPS, ref('b'), () => false, options);
    await assert.rejects(never({ timeoutMs: 50 }), /ConfigMap b is not as wanted after 50 ms: .*"size":"1"/);
    await assert.rejects(never({ signal: AbortSignal.timeout(10) }), { name: 'TimeoutError' });
  });
});
