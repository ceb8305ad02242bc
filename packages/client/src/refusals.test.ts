import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createTransport } from './http/http-transport.ts';
import { Refusals } from './refusals.ts';
import { reply, startFakeServer } from './testing/fake-server.ts';

test('a transport reports a 401 to the credential in use, and no other answer', async () => {
  let status = 200;
  let answering = Promise.resolve();
  const asked = Promise.withResolvers<void>();
  await using fake = await startFakeServer(({ url }, response) => {
    if (url === '/held') asked.resolve();
    void answering.then(() => reply(response, 'answer', status));
  });
  const refusals = new Refusals();
  const as = (token: string) => fake.connection({ kind: 'token', token });
  await using transport = createTransport(as('one'), { refusals });
  const ask = async (path = '/'): Promise<void> => {
    const { body } = await transport.request({ method: 'GET', path });
    body.destroy();
  };
  for (status of [200, 403, 500]) await ask();
  assert.equal(refusals.pending, false);
  status = 401;
  await ask();
  assert.equal(refusals.pending, true);
  refusals.clear();
  const held = Promise.withResolvers<void>();
  answering = held.promise;
  const late = ask('/held');
  await asked.promise;
  transport.replaceConnection(as('two'));
  held.resolve();
  await late;
  assert.equal(refusals.pending, false, 'the refused credential is no longer in use');
});
