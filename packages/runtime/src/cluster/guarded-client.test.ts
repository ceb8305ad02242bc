import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Client } from '@asterism/client';
import type { ResourceType } from '@asterism/machinery';
import { guardedClient } from './guarded-client.ts';
import { NotLeadingError } from '../leader/leader-election.ts';
import { FakeApi } from '../testing/fake-api.ts';

const PODS: ResourceType = { group: '', version: 'v1', resource: 'pods', kind: 'Pod', namespaced: true };
const pod = { metadata: { namespace: 'n', name: 'a' } };

const writes: { name: string; write: (client: Client) => Promise<unknown> }[] = [
  { name: 'create', write: (client) => client.resource(PODS).create(pod) },
  { name: 'patch', write: (client) => client.resource(PODS).patch(pod.metadata, { type: 'merge', body: {} }) },
  { name: 'delete', write: (client) => client.resource(PODS).delete(pod.metadata) },
  { name: 'as somebody else', write: (client) => client.impersonating({ user: 'x' }).resource(PODS).create(pod) },
  {
    name: 'through another transport',
    write: (client) =>
      client
        .through((to) => to)
        .resource(PODS)
        .create(pod),
  },
  {
    name: 'by hand',
    write: (client) => client.request({ method: 'POST', path: '/api/v1/namespaces/n/pods', body: '{}' }),
  },
];

for (const { name, write } of writes) {
  for (const when of ['before it begins', 'while its connection is opened']) {
    test(`a write (${name}) is not sent where that is forbidden ${when}`, async () => {
      await using api = await FakeApi.start();
      let may = when !== 'before it begins';
      const client = guardedClient(api.client(), () => may);
      const writing = write(client);
      may = false;
      await assert.rejects(writing, (error: Error) => error instanceof NotLeadingError && !error.message.includes('?'));
      assert.deepEqual(api.calls, []);
      await client.resource(PODS).list();
      may = true;
      await write(client);
      assert.equal(api.calls.length, 2);
    });
  }
}
