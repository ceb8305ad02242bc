import assert from 'node:assert/strict';
import { test } from 'node:test';
import { identityHeaders } from '@asterism/client';
import { startTestServer } from '../testing/index.ts';
import { grant, nobody, whoAmI } from './testing/who-am-i.ts';

const headers = { 'impersonate-user': 'carol', 'impersonate-group': ['a,b', 'c'] };

test('an admin acts as whom he names, with groups as they are written', async () => {
  await using server = await startTestServer();
  assert.deepEqual(await whoAmI(server.connection, headers), ['carol', 'a,b', 'c', 'system:authenticated']);
  assert.deepEqual(await whoAmI(server.connection, { 'impersonate-user': 'system:serviceaccount:x:y' }), [
    'system:serviceaccount:x:y',
    'system:serviceaccounts',
    'system:serviceaccounts:x',
    'system:authenticated',
  ]);
});

test('names arrive as they were written: any script, blanks at an end over HTTP/2, every extra key', async () => {
  await using server = await startTestServer();
  for (const name of ['šŤŭũŮ', 'Jürgen', '山田', 'Zoà']) {
    const headers = identityHeaders({ user: name, groups: [name], extra: Object.fromEntries([['__proto__', [name]]]) });
    assert.deepEqual(await whoAmI(server.connection, headers), [name, name, 'system:authenticated']);
  }
  assert.deepEqual(await whoAmI(server.connection, { 'impersonate-user': ' u1\t' }), [' u1\t', 'system:authenticated']);
  const rules = [{ apiGroups: [''], resources: ['users'], verbs: ['impersonate'] }];
  await grant(server, 'alice', rules);
  const alice = server.connectionAs({ username: 'alice', groups: [] });
  assert.equal(await whoAmI(alice, { 'impersonate-user': 'carol', 'impersonate-extra-__proto__': 'x' }), 403);
});

test('a header that names nobody is refused, and nobody acts as the sender', async () => {
  await using server = await startTestServer();
  for (const name of ['', 'J\xfcrgen', '\xed\xa0\x80']) {
    assert.equal(await whoAmI(server.connection, { 'impersonate-user': name }), 400, JSON.stringify(name));
    assert.equal(
      await whoAmI(server.connection, { 'impersonate-user': 'u', 'impersonate-group': name || '\xff' }),
      400,
    );
  }
  assert.equal(await whoAmI(server.connection, { 'impersonate-user': 'u', 'impersonate-extra-a%ff': 'x' }), 400);
});

test('others are refused, whatever they name', async () => {
  await using server = await startTestServer();
  const alice = server.connectionAs({ username: 'alice', groups: [] });
  assert.equal(await whoAmI(alice, headers), 403);
  assert.equal(await whoAmI(alice, { 'impersonate-user': 'alice', 'impersonate-group': 'system:masters' }), 403);
  assert.equal(await whoAmI(nobody(server), headers), 403);
  assert.equal(await whoAmI(alice, { 'impersonate-group': 'g' }), 400);
});

test('the right to impersonate a user is not the right to his groups', async () => {
  await using server = await startTestServer();
  const rules = [{ apiGroups: [''], resources: ['users'], resourceNames: ['carol'], verbs: ['impersonate'] }];
  await grant(server, 'alice', rules);
  const alice = server.connectionAs({ username: 'alice', groups: [] });
  assert.deepEqual(await whoAmI(alice, { 'impersonate-user': 'carol' }), ['carol', 'system:authenticated']);
  assert.equal(await whoAmI(alice, { 'impersonate-user': 'dave' }), 403);
  assert.equal(await whoAmI(alice, { 'impersonate-user': 'carol', 'impersonate-group': 'g' }), 403);
  assert.equal(await whoAmI(alice, { 'impersonate-user': 'carol', 'impersonate-extra-a': 'b' }), 403);
  assert.equal(await whoAmI(alice, { 'impersonate-user': 'carol', 'impersonate-uid': 'u' }), 403);
});

test('an extra of any key needs the right to it', async () => {
  await using server = await startTestServer();
  const rules = [{ apiGroups: [''], resources: ['users'], verbs: ['impersonate'] }];
  await grant(server, 'alice', rules);
  const alice = server.connectionAs({ username: 'alice', groups: [] });
  for (const key of ['__proto__', '__%70roto__', 'constructor', 'tostring']) {
    const asked = { 'impersonate-user': 'carol', [`impersonate-extra-${key}`]: 'v' };
    assert.equal(await whoAmI(alice, asked), 403, key);
  }
});
