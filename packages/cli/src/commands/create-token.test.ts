import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { reply } from '@asterism/client/testing';
import { describeError, EXIT } from '../exit-code.ts';
import { fakeTerminal, startFakeHub, USER_TOKEN } from '../testing/fake-hub.ts';
import { hurriedClock } from '../testing/hurried-clock.ts';
import { createToken } from './create-token.ts';

/** A hub that takes the tokens made in it from the call on that `takes` says. */
async function startHub({ takes, isHub = true }: { takes: (calls: number) => boolean; isHub?: boolean }) {
  const secrets = new Set<string>();
  let calls = 0;
  const hub = await startFakeHub((request, response) => {
    const { method, url = '', headers } = request;
    if (headers.authorization !== `Bearer ${USER_TOKEN}`) {
      assert.equal(secrets.size, 1, 'it is tried when it is there');
      calls += 1;
      return takes(calls)
        ? reply(response, { gitVersion: 'v1' })
        : reply(response, { kind: 'Status', code: 401, reason: 'Unauthorized', message: 'Unauthorized' }, 401);
    }
    if (url === '/apis/asterism.dev/v1alpha1') {
      return isHub ? reply(response, {}) : response.writeHead(404).end('404 page not found\n');
    }
    const path = '/api/v1/namespaces/kube-system/secrets';
    if (method === 'DELETE' && url.startsWith(path)) secrets.delete(url.slice(path.length + 1).replace(/\?.*/, ''));
    let body = '';
    request.on('data', (piece) => (body += String(piece)));
    request.on('end', () => {
      if (method === 'POST') secrets.add((JSON.parse(body) as { metadata: { name: string } }).metadata.name);
      reply(response, {});
    });
  });
  return { ...hub, secrets, calls: () => calls };
}

describe('aster token create', () => {
  test('gives a token that the hub takes, as soon as it does', async () => {
    await using hub = await startHub({ takes: (calls) => calls >= 3 });
    const terminal = fakeTerminal();
    const code = await createToken(
      { kubeconfig: hub.kubeconfig, ttl: '1h', output: 'token' },
      terminal,
      hurriedClock(),
    );
    assert.equal(code, EXIT.fine);
    assert.match(terminal.stdout, /^[a-z0-9]{6}\.[a-z0-9]{16}\n$/);
    assert.deepEqual([...hub.secrets], [`bootstrap-token-${terminal.stdout.slice(0, 6)}`]);
    assert.equal(hub.calls(), 3);
  });

  test('gives the whole command for the other side', async () => {
    await using hub = await startHub({ takes: () => true });
    const terminal = fakeTerminal();
    await createToken({ kubeconfig: hub.kubeconfig, ttl: '1h', cluster: 'edge-1' }, terminal, hurriedClock());
    const command =
      /^aster join --hub https:\S+ --token [a-z0-9]{6}\.[a-z0-9]{16} --(ca-hash|hub-ca) \S+ --name edge-1\n$/;
    assert.match(terminal.stdout, command);
  });

  test('gives none where nobody takes it, and leaves none behind: the address of templates', async () => {
    await using hub = await startHub({ takes: () => false });
    const terminal = fakeTerminal();
    const error = await createToken({ kubeconfig: hub.kubeconfig, ttl: '1h' }, terminal, hurriedClock()).then(
      () => assert.fail('it made one'),
      (cause: unknown) => cause,
    );
    assert.match(
      describeError(error),
      /^https:\S+ does not take the token .*--templates embedded.*use the kubeconfig of/,
    );
    assert.deepEqual([terminal.stdout, terminal.stderr, [...hub.secrets]], ['', '', []]);
  });

  test('makes none where there is no hub', async () => {
    await using hub = await startHub({ takes: () => true, isHub: false });
    await assert.rejects(
      createToken({ kubeconfig: hub.kubeconfig, ttl: '1h' }, fakeTerminal(), hurriedClock()),
      /serves no asterism\.dev\/v1alpha1 \(404: 404 page not found\): is it a hub's/,
    );
    assert.equal(hub.secrets.size, 0);
  });
});
