import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Deployment } from '@asterism/machinery';
import { type AgentManifestsOptions, agentManifests } from './agent-manifests.ts';

const PASSWORD = 's3cret';
const TOKEN = 'abcdef.0123456789abcdef';

const given: AgentManifestsOptions = {
  clusterName: 'edge-1',
  syncMode: 'Dual',
  hub: { server: 'https://hub:7443', ca: 'PEM of the hub', token: TOKEN },
  image: 'agent:1',
  endpoint: { server: 'https://edge:6443', caBundle: 'PEM of the endpoint' },
  destinations: { origins: ['https://registry.corp:443'], caData: 'PEM of the registry' },
  proxy: `http://edge:${PASSWORD}@proxy:3128`,
};

function templateOf(options: AgentManifestsOptions): object {
  return (agentManifests(options).at(-1) as Deployment).spec?.template ?? assert.fail();
}

describe('the template of the agent’s pod', () => {
  const others: [what: string, options: Partial<AgentManifestsOptions>][] = [
    ['token', { hub: { ...given.hub, token: 'abcdef.fedcba9876543210' } }],
    ['authority of the hub', { hub: { ...given.hub, ca: 'another PEM' } }],
    ['authority of the endpoint', { endpoint: { server: 'https://edge:6443', caBundle: 'another PEM' } }],
    ['authority of destinations', { destinations: { origins: ['https://registry.corp:443'], caData: 'another PEM' } }],
    ['password of the proxy', { proxy: 'http://edge:another@proxy:3128' }],
  ];
  for (const [what, options] of others) {
    test(`is another one with another ${what}`, () => {
      assert.notDeepEqual(templateOf({ ...given, ...options }), templateOf(given));
    });
  }

  const { token: _, ...joinedBefore } = given.hub;
  const same: [what: string, options: AgentManifestsOptions][] = [
    ['the same', given],
    ['the same without a token', { ...given, hub: joinedBefore, proxy: 'http://proxy:3128' }],
  ];
  for (const [what, options] of same) {
    test(`is the same with ${what}`, () => assert.deepEqual(templateOf({ ...options }), templateOf(options)));
  }

  test('tells no secret, nor lets anybody try passwords where no token is hashed with them', () => {
    for (const secret of [PASSWORD, TOKEN]) assert.ok(!JSON.stringify(templateOf(given)).includes(secret));
    const withoutToken = { ...given, hub: joinedBefore };
    assert.notDeepEqual(templateOf(withoutToken), templateOf(withoutToken));
  });
});
