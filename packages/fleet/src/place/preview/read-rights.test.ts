import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { startTestServer, type TestServer } from '@asterism/apiserver/testing';
import { CLUSTER_ROLES, type KubeObject } from '@asterism/machinery';
import type { PropagationPolicy, ResourceBinding } from '../../api/index.ts';
import { withAuthor } from '../rights/author.ts';
import type { Subject } from '../rights/subject.ts';
import { cluster } from '../testing/build.ts';
import type { FleetRights, ImaginedFleet } from './preview-placements.ts';
import { readRights, type UnknownRights } from './read-rights.ts';

const ADMIN: Subject = { username: 'root', groups: ['system:masters'] };
const WRITERS = 'all who may write PropagationPolicies in namespace "demo"';
const asterism = { apiGroups: ['asterism.dev'] };

const template: KubeObject = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'conf', namespace: 'demo' } };
const policy: PropagationPolicy = {
  apiVersion: 'asterism.dev/v1alpha1',
  kind: 'PropagationPolicy',
  metadata: { name: 'conf', namespace: 'demo', uid: 'uid-of-conf' },
  spec: { resourceSelectors: [{ apiVersion: 'v1', kind: 'ConfigMap' }] },
};
const fleetOf = (own: PropagationPolicy, authority?: string): ImaginedFleet => {
  const { apiVersion, kind, metadata } = own;
  const binding: ResourceBinding = {
    apiVersion: 'asterism.dev/v1alpha1',
    kind: 'ResourceBinding',
    metadata: { name: 'conf-configmap', namespace: 'demo' },
    spec: {
      resource: { apiVersion: 'v1', kind: 'ConfigMap', namespace: 'demo', name: 'conf' },
      policy: { apiVersion, kind, namespace: 'demo', name: 'conf', uid: metadata.uid ?? '' },
      ...(authority === undefined ? {} : { authority }),
    },
  };
  return {
    templates: [template],
    bindings: authority === undefined ? [] : [binding],
    policies: { namespaced: [own], cluster: [] },
    overrides: new Set(),
    clusters: [cluster('ant'), cluster('bee')],
  };
};

describe('rights in a preview', () => {
  let server: TestServer<'eve'>;
  before(async () => {
    const rules = [
      { ...asterism, resources: ['propagationpolicies'], verbs: ['create'] },
      { ...asterism, resources: ['clusters'], resourceNames: ['ant'], verbs: ['place'] },
      { apiGroups: [''], resources: ['configmaps'], verbs: ['get'] },
    ];
    server = await startTestServer({ users: { eve: { rules } } });
  });
  after(() => server[Symbol.asyncDispose]());

  const known = (rights: FleetRights | UnknownRights): FleetRights => {
    assert.ok(!('unknown' in rights));
    return rights;
  };
  const refusals = async (fleet: ImaginedFleet): Promise<Record<string, string>> => {
    const rights = known(await readRights(server.client, fleet));
    const [own] = fleet.policies.namespaced;
    assert.ok(own);
    return Object.fromEntries(rights.groundsOf(own, template)?.refusals ?? []);
  };
  const OF_WRITERS = {
    bee:
      'user "eve" may write PropagationPolicies in namespace "demo" and may not place in cluster "bee": ' +
      'needs verb place on clusters.asterism.dev "bee"',
  };

  test('are those of the recorded author', async () => {
    assert.deepEqual(await refusals(fleetOf(withAuthor(policy, ADMIN))), {});
    const eve = { username: 'eve', groups: ['system:authenticated'] };
    assert.deepEqual(await refusals(fleetOf(withAuthor(policy, eve))), {
      bee: 'user "eve" may not place in cluster "bee": needs verb place on clusters.asterism.dev "bee"',
    });
  });

  test('are those that all have in common who may write the policy, if no author is recorded', async () => {
    assert.deepEqual(await refusals(fleetOf(policy)), OF_WRITERS);
  });

  test('are not those of an author whom the policy names and the hub does not know', async () => {
    assert.deepEqual(await refusals(fleetOf(withAuthor(policy, ADMIN), WRITERS)), OF_WRITERS);
    assert.deepEqual(await refusals(fleetOf(withAuthor(policy, ADMIN), 'user "root"')), {});
  });

  test('a caller who may not ask for the rights of others finds out their own only', async () => {
    const { eve } = server.users;
    const groups = ['system:authenticated'];
    const own = withAuthor(policy, { username: 'eve', groups });
    const rights = known(await readRights(eve.client, fleetOf(own)));
    assert.deepEqual([...(rights.groundsOf(own, template)?.refusals.keys() ?? [])], ['bee']);
    const others = withAuthor(policy, { username: 'mallory', groups });
    const unknown = await readRights(eve.client, fleetOf(others));
    assert.match('unknown' in unknown ? unknown.unknown : '', /"eve" cannot create resource "subjectaccessreviews"/);
  });

  test('are unknown in an API server that holds templates only, unless the author is recorded', async () => {
    await server.client.resource(CLUSTER_ROLES).delete({ name: 'cluster-admin' });
    const unknown = await readRights(server.client, fleetOf(policy));
    assert.match('unknown' in unknown ? unknown.unknown : '', /does not know the roles/);
    assert.deepEqual(await refusals(fleetOf(withAuthor(policy, ADMIN))), {});
  });
});
