import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Kubeconfig, KubeconfigCluster } from '@asterism/client';
import { contextsEdit, type HubEntries, hubServerOf } from './hub-contexts.ts';

const HUB = 'https://hub.example:7443';
const PROXY = '/apis/proxy.asterism.dev/v1alpha1/clusters';
const SEARCH = '/apis/search.asterism.dev/v1alpha1/resources';

const servers: [server: string, hub: string][] = [
  [HUB, HUB],
  [`${HUB}${PROXY}/edge-1/proxy`, HUB],
  [`${HUB}${PROXY}/edge-1/proxy/`, HUB],
  [`${HUB}${SEARCH}`, HUB],
  [`${HUB}${SEARCH}/clusters/edge-1`, HUB],
  [`${HUB}/below${PROXY}/edge-1/proxy`, `${HUB}/below`],
  [`${HUB}${PROXY}/edge-1`, `${HUB}${PROXY}/edge-1`],
  ['https://rancher.example/k8s/clusters/c-1', 'https://rancher.example/k8s/clusters/c-1'],
];
for (const [server, hub] of servers) {
  test(`the hub behind ${server}`, () => assert.equal(hubServerOf(server), hub));
}

const hub: HubEntries = {
  cluster: { server: HUB, 'certificate-authority-data': 'Q0E=' },
  user: { token: 't' },
  namespace: undefined,
};
const empty: Kubeconfig = { clusters: [], users: [], contexts: [] };
const withClusters = (clusters: Record<string, KubeconfigCluster>): Kubeconfig => ({
  ...empty,
  clusters: Object.entries(clusters).map(([name, cluster]) => ({ name, cluster })),
});

describe('the contexts of a hub', () => {
  test('its own, that of search, one of each member; one user for all', () => {
    const { set, currentContext, remove } = contextsEdit(empty, hub, { name: 'asterism', members: ['edge-1'] });
    assert.deepEqual(
      set.clusters.map(({ name, cluster }) => [name, cluster.server, cluster['certificate-authority-data']]),
      [
        ['asterism', HUB, 'Q0E='],
        ['asterism-search', HUB + SEARCH, 'Q0E='],
        ['asterism/edge-1', `${HUB}${PROXY}/edge-1/proxy`, 'Q0E='],
      ],
    );
    assert.deepEqual(
      set.contexts.map(({ name, context }) => [name, context]),
      ['asterism', 'asterism-search', 'asterism/edge-1'].map((name) => [name, { cluster: name, user: 'asterism' }]),
    );
    assert.deepEqual(set.users, [{ name: 'asterism', user: { token: 't' } }]);
    assert.equal(currentContext, 'asterism');
    assert.deepEqual(remove, { clusters: [], contexts: [] });
  });

  test('of a caller who stands on a member', () => {
    const cluster = { ...hub.cluster, server: `${HUB}${PROXY}/edge-1/proxy` };
    const { set } = contextsEdit(empty, { ...hub, cluster }, { name: 'asterism', members: ['edge-2'] });
    assert.deepEqual(
      set.clusters.map((each) => each.cluster.server),
      [HUB, HUB + SEARCH, `${HUB}${PROXY}/edge-2/proxy`],
    );
  });

  test('keep the namespace that somebody chose', () => {
    const present: Kubeconfig = {
      ...empty,
      contexts: [{ name: 'asterism/edge-1', context: { cluster: 'x', user: 'y', namespace: 'mine' } }],
    };
    const given = { ...hub, namespace: 'given' };
    const { set } = contextsEdit(present, given, { name: 'asterism', members: ['edge-1', 'edge-2'] });
    assert.deepEqual(
      set.contexts.map(({ context }) => context.namespace),
      ['given', 'given', 'mine', 'given'],
    );
  });

  test('are written anew where the hub has moved and has its authority still', () => {
    const moved = { server: 'https://old:1', 'certificate-authority-data': 'Q0E=' };
    contextsEdit(withClusters({ asterism: moved }), hub, { name: 'asterism', members: [] });
  });

  const foreign: [name: string, cluster: KubeconfigCluster][] = [
    ['asterism', { server: 'https://other', 'certificate-authority-data': 'T1RIRVI=' }],
    ['asterism-search', { server: 'https://other' }],
    ['asterism/edge-1', { server: `https://other${PROXY}/edge-1/proxy` }],
  ];
  for (const [name, cluster] of foreign) {
    test(`never take the place of another hub's ${name}`, () => {
      const present = withClusters({ [name]: cluster });
      const options = { name: 'asterism', members: ['edge-1'] };
      assert.throws(() => contextsEdit(present, hub, options), /is not of this hub .*--name/);
      contextsEdit(present, hub, { ...options, name: 'other-name' });
    });
  }

  test('of members that are gone are taken out, and of nobody else', () => {
    const present = withClusters({
      asterism: hub.cluster,
      'asterism-search': { ...hub.cluster, server: HUB + SEARCH },
      'asterism/here': { ...hub.cluster, server: `${HUB}${PROXY}/here/proxy` },
      'asterism/gone': { ...hub.cluster, server: `${HUB}${PROXY}/gone/proxy` },
      'asterism/mine': { server: 'https://elsewhere' },
      'other/gone': { ...hub.cluster, server: `${HUB}${PROXY}/gone/proxy` },
    });
    const options = { name: 'asterism', members: [], prune: ['here'] };
    assert.deepEqual(contextsEdit(present, hub, options).remove, {
      clusters: ['asterism/gone'],
      contexts: ['asterism/gone'],
    });
  });
});
