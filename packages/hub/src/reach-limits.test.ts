import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { type Client, createClient, type Transport, withBasePath } from '@asterism/client';
import { memberProxyPath, PROXY_GROUP } from '@asterism/fleet/api';
import { CONFIG_MAPS } from '@asterism/machinery';
import { grant } from './testing/grant.ts';
import { apply, TestFleet } from './testing/test-fleet.ts';

const MAPS = '/api/v1/namespaces/default/configmaps';

describe('limits of calls under way', () => {
  let fleet: TestFleet;
  let ann: Client;
  let bob: Client;
  let carl: Client;

  before(async () => {
    fleet = await TestFleet.start({ reachLimits: { perCaller: 2, perCluster: 3 } });
    const member = await fleet.startMember();
    const everything = { apiGroups: ['*'], resources: ['*'], verbs: ['*'] };
    await apply(member.client, grant('people', { kind: 'Group', name: 'people' }, everything));
    const proxy = { apiGroups: [PROXY_GROUP], resources: ['clusters/proxy'], verbs: ['*'] };
    await apply(fleet.hub.client, grant('people', { kind: 'Group', name: 'people' }, proxy));
    const { token } = await fleet.hub.createBootstrapToken({ autoApprove: true });
    await fleet.join(member, { token }).ready;
    await fleet.reached('edge-1');
    const person = async (name: string): Promise<Client> =>
      createClient({
        transport: withBasePath((await fleet.person(name, 'people')).transport, memberProxyPath('edge-1')),
      });
    [ann, bob, carl] = [await person('ann'), await person('bob'), await person('carl')];
  });

  after(() => fleet[Symbol.asyncDispose]());

  /** A watch that runs, and what ends it. */
  const watch = async (client: Client): Promise<() => Promise<unknown>> => {
    const events = client.resource(CONFIG_MAPS).watch({ namespace: 'default' })[Symbol.asyncIterator]();
    await events.next();
    return () => events.return?.() ?? Promise.resolve();
  };
  const get = async ({ transport }: { transport: Transport }, method = 'GET'): Promise<[number, unknown]> => {
    const { status, headers, body } = await transport.request({ method, path: MAPS });
    body.resume();
    return [status, headers['retry-after']];
  };
  const eventuallyServed = async (client: Client): Promise<void> => {
    for (const late = AbortSignal.timeout(5_000); (await get(client))[0] !== 200; )
      assert.ok(!late.aborted, 'no place');
  };

  test('limits: one dashboard cannot use up a tunnel; what ends makes room', async () => {
    const [first, second] = [await watch(ann), await watch(ann)];
    assert.deepEqual(await get(ann), [429, '1']);
    const upgrade = {
      method: 'GET',
      path: `${MAPS}?watch=1`,
      headers: { connection: 'Upgrade', upgrade: 'websocket' },
    };
    const answer = await ann.transport.upgrade(upgrade);
    assert.deepEqual([answer.status, answer.headers['retry-after']], [429, '1']);
    assert.deepEqual(await get(bob), [200, undefined], 'others have theirs');
    const third = await watch(bob);
    assert.equal((await get(carl))[0], 429, 'all together have no more than the cluster has');
    await first();
    await eventuallyServed(carl);
    await Promise.all([second(), third()]);
    await eventuallyServed(ann);
  });

  test('a place is free again after every kind of end: HEAD, a refusal, a caller that left', async () => {
    for (let i = 0; i < 4; i += 1) {
      await get(ann, 'HEAD');
      await ann.transport.upgrade({
        method: 'GET',
        path: '/api/v1/namespaces/default/pods/none/exec',
        headers: { connection: 'Upgrade', upgrade: 'SPDY/3.1' },
      });
      const abort = new AbortController();
      const { body } = await ann.transport.request({ method: 'GET', path: `${MAPS}?watch=1`, signal: abort.signal });
      body.on('error', () => {});
      abort.abort();
      await eventuallyServed(ann);
    }
  });
});
