import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { startTestServer, type TestServer } from '@asterism/apiserver/testing';
import { CLUSTER_ROLES, ifFound, NAMESPACES, ROLE_BINDINGS } from '@asterism/machinery';
import { applyInMember } from '../install/install-agent.ts';
import { memberManifests } from './member-manifests.ts';
import type { Permissions } from './permissions.ts';
import { removeOtherPermissions, resolvePermissions } from './resolve-permissions.ts';

describe('the permissions of a join', () => {
  let member: TestServer;

  before(async () => {
    member = await startTestServer();
    for (const name of ['shop', 'blog']) await member.client.resource(NAMESPACES).create({ metadata: { name } });
  });
  after(() => member[Symbol.asyncDispose]());

  const resolve = (given?: Permissions) => resolvePermissions(member.client, { syncMode: 'Pull', given });

  async function join(given?: Permissions): Promise<Permissions> {
    const permissions = await resolve(given);
    await applyInMember(member.client, memberManifests({ syncMode: 'Pull', permissions }));
    await removeOtherPermissions(member.client, permissions);
    return permissions;
  }

  async function bound(): Promise<string[]> {
    const { items } = await member.client.resource(ROLE_BINDINGS).list();
    return items
      .filter(({ metadata }) => metadata?.name === 'asterism:workloads')
      .map(({ metadata }) => metadata?.namespace ?? '')
      .sort();
  }

  test('are those of platform the first time', async () => {
    assert.deepEqual(await join(), { profile: 'platform' });
    assert.deepEqual(await bound(), []);
  });

  test('workloads without namespaces: all there are, but those of the system', async () => {
    const { namespaces } = await join({ profile: 'workloads', callers: { users: ['ann'], groups: ['devs'] } });
    assert.deepEqual([...(namespaces ?? [])].sort(), ['blog', 'default', 'shop']);
    assert.deepEqual(await bound(), ['blog', 'default', 'shop']);
  });

  test('joined again without a profile they stay as they are', async () => {
    const again = await join();
    assert.deepEqual([again.profile, again.namespaces], ['workloads', ['blog', 'default', 'shop']]);
    assert.deepEqual(again.callers, { users: ['ann'], groups: ['devs'] });
  });

  test('fewer namespaces: the others are taken away; the callers stay', async () => {
    const fewer = await join({ profile: 'workloads', namespaces: ['shop'] });
    assert.deepEqual(fewer.callers, { users: ['ann'], groups: ['devs'] });
    assert.deepEqual(await bound(), ['shop']);
    const role = await member.client.resource(CLUSTER_ROLES).get({ name: 'asterism:agent' });
    assert.ok(!JSON.stringify(role.rules).includes('"*"'), 'nothing of platform is left');
  });

  test('a listed namespace that is not there is made, and is not the join’s to delete', async () => {
    await join({ profile: 'workloads', namespaces: ['shop', 'fresh'] });
    const { metadata } = await member.client.resource(NAMESPACES).get({ name: 'fresh' });
    assert.equal(metadata?.labels?.['asterism.dev/made-by'], undefined);
  });

  test('a larger profile leaves nothing of the smaller one', async () => {
    await join({ profile: 'platform' });
    assert.deepEqual(await bound(), []);
    assert.equal(await ifFound(member.client.resource(CLUSTER_ROLES).get({ name: 'asterism:workloads' })), undefined);
    const callers = await member.client.resource(CLUSTER_ROLES).get({ name: 'asterism:callers' });
    assert.equal(callers.metadata?.annotations?.['asterism.dev/fixed-callers'], undefined);
  });
});
