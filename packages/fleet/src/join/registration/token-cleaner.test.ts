import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startTestServer } from '@asterism/apiserver/testing';
import { formatTime, type Secret, SECRETS } from '@asterism/machinery';
import { createManager, silentLogger, watchResource } from '@asterism/runtime';
import { bootstrapTokenSecret } from './bootstrap-token.ts';
import { createTokenCleaner } from './token-cleaner.ts';

test('a token that has expired is deleted, also one that expires later; what is no token or has no end stays', async () => {
  await using server = await startTestServer();
  const secrets = server.client.resource(SECRETS);
  const token = (id: string, expires: string): Secret =>
    bootstrapTokenSecret({ id, token: `${id}.0123456789abcdef`, expires }, {});
  await secrets.create(token('aaaaaa', formatTime(Date.now() - 60_000)));
  await secrets.create(token('bbbbbb', formatTime(Date.now() + 86_400_000)));
  await secrets.create(token('cccccc', formatTime(Date.now() + 2_000)));
  await secrets.create(token('dddddd', 'some day'));
  await secrets.create({ ...token('eeeeee', formatTime(0)), type: 'Opaque' });
  await secrets.create({ ...token('ffffff', formatTime(0)), metadata: { name: 'elsewhere', namespace: 'default' } });
  const { data: { expiration: _, ...endless } = {}, ...rest } = token('gggggg', '');
  await secrets.create({ ...rest, data: endless });
  const stop = new AbortController();
  const manager = createManager({ client: server.client, logger: silentLogger });
  // As in a hub, where others watch other Secrets.
  manager.local.cache.informer(SECRETS, { namespace: 'default', fieldSelector: 'type=Opaque' });
  manager.add(createTokenCleaner());
  const running = manager.start(stop.signal);
  const signal = AbortSignal.timeout(20_000);
  let areGone = false;
  for await (const event of watchResource(secrets, { namespace: 'kube-system', signal })) {
    if (event.type === 'Init' || event.type === 'InitApply') continue;
    const left = (await secrets.list({ namespace: 'kube-system' })).items.map(({ metadata }) => metadata?.name ?? '');
    if (!left.includes('bootstrap-token-aaaaaa') && !left.includes('bootstrap-token-cccccc')) {
      const tokens = left.filter((name) => name.startsWith('bootstrap-token-')).sort();
      assert.deepEqual(
        tokens,
        ['bbbbbb', 'dddddd', 'eeeeee', 'gggggg'].map((id) => `bootstrap-token-${id}`),
      );
      areGone = true;
      break;
    }
  }
  assert.ok(areGone, 'the tokens that have expired are still there');
  assert.equal((await secrets.get({ namespace: 'default', name: 'elsewhere' })).metadata?.name, 'elsewhere');
  stop.abort();
  await running;
});
