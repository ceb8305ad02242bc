import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { type Client, createClient, createTransport, withBasePath } from '@asterism/client';
import {
  CLUSTER_ROLE_BINDINGS,
  CLUSTER_ROLES,
  CONFIG_MAPS,
  type KubeList,
  type KubeObject,
  type PolicyRule,
  ROLE_BINDINGS,
  ROLES,
  SECRETS,
  type Status,
} from '@asterism/machinery';
import { SEARCH_PATH } from '../../api/index.ts';
import { SEARCH_CLUSTER_ANNOTATION } from '../cluster-annotation.ts';
import type { IndexRule } from '../sync/indexed-resources.ts';
import { type Member, startMember } from '../testing/member.ts';
import { type SearchFleet, startSearchFleet, TABLE } from '../testing/search-fleet.ts';

const MAPS: IndexRule[] = [{ group: '', resources: ['configmaps'] }];
const ALL_MAPS = '/api/v1/configmaps';

let fleet: SearchFleet;
let alpha: Member;
let beta: Member;
let parts: AsyncDisposableStack;

async function start(): Promise<void> {
  parts = new AsyncDisposableStack();
  fleet = parts.use(await startSearchFleet());
  alpha = parts.use(await startMember());
  beta = parts.use(await startMember());
}

async function stop(): Promise<void> {
  await parts.disposeAsync();
}

describe('queries', () => {
  before(async () => {
    await start();
    const maps = alpha.server.client.resource(CONFIG_MAPS);
    for (const [name, namespace, app, size] of [
      ['a', 'default', 'web', '1'],
      ['b', 'default', 'api', '2'],
      ['c', 'kube-public', 'web', '3'],
    ] as const) {
      await maps.create({ metadata: { name, namespace, labels: { app } }, data: { size } });
    }
    await beta.put('a');
    await fleet.join('alpha', alpha, MAPS);
    await fleet.join('beta', beta, MAPS);
    await fleet.store.until(async () => (await fleet.store.names('configmaps')).length === 4);
  });
  after(stop);

  const TABLES: [name: string, path: string, found: string[]][] = [
    ['everything', ALL_MAPS, ['alpha/default/a', 'beta/default/a', 'alpha/default/b', 'alpha/kube-public/c']],
    ['a namespace', '/api/v1/namespaces/default/configmaps', ['alpha/default/a', 'beta/default/a', 'alpha/default/b']],
    ['one cluster by its path', `/clusters/beta${ALL_MAPS}`, ['beta/default/a']],
    ['clusters by parameter', `${ALL_MAPS}?clusters=beta`, ['beta/default/a']],
    ['names', `${ALL_MAPS}?names=a,c`, ['alpha/default/a', 'beta/default/a', 'alpha/kube-public/c']],
    ['namespaces', `${ALL_MAPS}?namespaces=kube-public`, ['alpha/kube-public/c']],
    ['labels', `${ALL_MAPS}?labelSelector=app%3Dweb`, ['alpha/default/a', 'alpha/kube-public/c']],
    ['a field', `${ALL_MAPS}?fieldSelector=data.size%3D2`, ['alpha/default/b']],
    [
      'order',
      `${ALL_MAPS}?orderby=cluster+desc,name+desc`,
      ['beta/default/a', 'alpha/kube-public/c', 'alpha/default/b', 'alpha/default/a'],
    ],
  ];
  for (const [name, path, found] of TABLES) {
    test(name, async () => assert.deepEqual(await fleet.found(path), found));
  }

  const TOO_MUCH: [name: string, parameter: string, value: string, says: RegExp][] = [
    [
      '1,200 conditions on fields',
      'fieldSelector',
      Array(1_200).fill('data.a=1').join(','),
      /fields: 1200 .* at most 50 /,
    ],
    [
      '3,000 labels',
      'labelSelector',
      Array.from({ length: 3_000 }, (_, n) => `k${n}`).join(','),
      /labels: 3000 .* at most 20 /,
    ],
    ['70 arrays in a path', 'fieldSelector', `a${'[]'.repeat(70)}=1`, /70 \[\] are too many: at most 8 /],
    [
      '2,000 names',
      'names',
      Array.from({ length: 2_000 }, String).join(','),
      /names: 2000 are too many: at most 1000 /,
    ],
    [
      '40,000 letters',
      'fieldSelector',
      `a=${'x'.repeat(40_000)}`,
      /fieldSelector has 40002 characters: at most 32768 /,
    ],
  ];
  for (const [name, parameter, value, says] of TOO_MUCH) {
    test(`${name} are refused with the limit`, async () => {
      const { status, body } = await fleet.ask(`${ALL_MAPS}?${parameter}=${encodeURIComponent(value)}`);
      assert.equal(status, 400, JSON.stringify(body).slice(0, 500));
      assert.match((body as Status).message ?? '', says);
    });
  }

  test('lists say their kind; limit and continue go through all of it', async () => {
    const { body } = await fleet.ask(`${ALL_MAPS}?limit=3`);
    const { kind, apiVersion, metadata, items } = body as KubeList<KubeObject>;
    assert.deepEqual({ kind, apiVersion, items: items.length }, { kind: 'ConfigMapList', apiVersion: 'v1', items: 3 });
    assert.equal(metadata?.remainingItemCount, 1);
    const rest = await fleet.found(`${ALL_MAPS}?limit=3&continue=${encodeURIComponent(metadata?.continue ?? '')}`);
    assert.deepEqual(rest, ['alpha/kube-public/c']);
    assert.equal((await fleet.ask(`${ALL_MAPS}?limit=3&continue=junk%7B`)).status, 400);
  });

  test('one object: within a cluster, byte for byte what is stored', async () => {
    const { rows } = await fleet.store.query({ clusters: ['beta'], names: ['a'] });
    const one = await fleet.ask('/clusters/beta/api/v1/namespaces/default/configmaps/a');
    assert.equal(one.text, Buffer.from(rows[0]?.object ?? '').toString());
    const missing = await fleet.ask('/clusters/beta/api/v1/namespaces/default/configmaps/z');
    assert.equal(missing.status, 404);
    assert.equal((missing.body as Status).message, 'configmaps "z" not found');
    const anywhere = await fleet.ask('/api/v1/namespaces/default/configmaps/a');
    assert.equal(anywhere.status, 400);
    assert.match((anywhere.body as Status).message ?? '', /within a cluster .* names=a/);
  });

  test('tables: the cluster first, then the columns of the kind; the namespace where no object tells it', async () => {
    const { columnDefinitions, rows } = await fleet.table(ALL_MAPS);
    assert.deepEqual(
      columnDefinitions?.map(({ name }) => name),
      ['Cluster', 'Name', 'Data', 'Age'],
    );
    assert.deepEqual(rows[0]?.cells.slice(0, 3), ['alpha', 'a', 1]);
    assert.deepEqual(Object.keys(rows[0]?.object ?? {}), ['kind', 'apiVersion', 'metadata']);
    assert.equal(rows[3]?.object?.metadata?.namespace, 'kube-public');
    const bare = await fleet.table(`${ALL_MAPS}?includeObject=None`);
    assert.deepEqual(
      bare.columnDefinitions?.map(({ name }) => name),
      ['Cluster', 'Namespace', 'Name', 'Data', 'Age'],
    );
    assert.deepEqual(bare.rows[3]?.cells.slice(0, 3), ['alpha', 'kube-public', 'c']);
    assert.equal(bare.rows[3]?.object, null);
    const whole = await fleet.table('/clusters/beta/api/v1/namespaces/default/configmaps/a?includeObject=Object');
    assert.equal(whole.rows[0]?.object?.kind, 'ConfigMap');
  });

  test('what is not understood is said, and so is what is not there', async () => {
    const refused: [path: string, status: number, message: RegExp][] = [
      [`${ALL_MAPS}?label=a`, 400, /"label" is no parameter/],
      [`${ALL_MAPS}?fieldSelector=.a%3D%3D`, 400, /fieldSelector ".a==": expected a value/],
      [`${ALL_MAPS}?clusters=alpha,gamma`, 404, /clusters\.asterism\.dev "gamma" not found/],
      ['/apis/example.com/v1/widgets', 404, /no cluster indexes widgets\.example\.com/],
      ['/api/v1/namespaces/default/nodes', 404, /do not live in namespaces/],
      ['/pods', 404, /resources\/api/],
    ];
    for (const [path, status, message] of refused) {
      const answer = await fleet.ask(path);
      assert.equal(answer.status, status, path);
      assert.match((answer.body as Status).message ?? '', message);
    }
    const post = await fleet.hub.client.request({ method: 'POST', path: SEARCH_PATH + ALL_MAPS, body: '{}' });
    assert.equal(post.status, 405);
    post.body.resume();
    const { warnings } = await fleet.ask('/api/v1/pods');
    assert.deepEqual(warnings, ['299 - "search: pods in v1 are not indexed of alpha, beta"']);
  });

  test('a client of any API server finds its way, through discovery of both forms', async () => {
    const client = createClient({ transport: withBasePath(fleet.hub.client.transport, SEARCH_PATH) });
    const resource = await client.discovery.find('cm');
    assert.deepEqual([resource.resource, resource.kind, resource.namespaced], ['configmaps', 'ConfigMap', true]);
    const pages = await Array.fromAsync(client.resource(resource).pages({ limit: 3 }));
    assert.deepEqual(
      pages.map(({ items }) => items.length),
      [3, 1],
    );
    const legacy = async (path: string) => (await fleet.ask(path, { accept: 'application/json' })).body;
    assert.deepEqual(await legacy('/api'), { kind: 'APIVersions', versions: ['v1'], serverAddressByClientCIDRs: [] });
    const [found] = ((await legacy('/api/v1')) as { resources: { name: string; verbs: string[] }[] }).resources;
    assert.deepEqual([found?.name, found?.verbs], ['configmaps', ['get', 'list']]);
    assert.deepEqual(await legacy('/apis'), { kind: 'APIGroupList', apiVersion: 'v1', groups: [] });
    assert.equal((await fleet.ask('/apis/apps/v1')).status, 404);
  });
});

describe('who may search', () => {
  before(async () => {
    await start();
    const rules: IndexRule[] = [{ group: '', resources: ['configmaps', 'secrets'] }];
    await alpha.put('a');
    await beta.put('b');
    await alpha.server.client
      .resource(SECRETS)
      .create({ metadata: { name: 's', namespace: 'default' }, stringData: { password: 'x' } });
    await fleet.join('alpha', alpha, rules);
    await fleet.join('beta', beta, rules);
    await fleet.store.until(async () => (await fleet.store.names('secrets')).length === 1);
    await fleet.store.until(async () => (await fleet.store.names('configmaps')).length === 2);
  });
  after(stop);

  const rule = (verb: string, apiGroup: string, resource: string, ...resourceNames: string[]): PolicyRule => ({
    verbs: [verb],
    apiGroups: [apiGroup],
    resources: [resource],
    ...(resourceNames.length > 0 ? { resourceNames } : {}),
  });
  const LIST_MAPS = rule('list', '', 'configmaps');
  const SEARCH_ALL = rule('search', 'asterism.dev', 'clusters');

  /** A user who may do that, everywhere or in one namespace. */
  async function userWith(rules: PolicyRule[], namespace?: string) {
    const name = `jo-${Math.random().toString(36).slice(2)}`;
    const { client } = fleet.hub;
    const metadata = namespace === undefined ? { name } : { name, namespace };
    const kind = namespace === undefined ? 'ClusterRole' : 'Role';
    const binding = {
      metadata,
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind, name },
      subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name }],
    };
    await client.resource(namespace === undefined ? CLUSTER_ROLES : ROLES).create({ metadata, rules });
    await client.resource(namespace === undefined ? CLUSTER_ROLE_BINDINGS : ROLE_BINDINGS).create(binding);
    return fleet.clientAs({ username: name, groups: [] });
  }

  const statusOf = async (path: string, client: Client) => (await fleet.ask(path, { client })).status;
  const clustersIn = ({ body }: { body: unknown }) =>
    (body as KubeList<KubeObject>).items.map(({ metadata }) => metadata?.annotations?.[SEARCH_CLUSTER_ANNOTATION]);

  test('nobody without rights; rights in the hub alone are none', async () => {
    const nobody = fleet.clientAs({ username: 'nobody', groups: [] });
    assert.equal(await statusOf(ALL_MAPS, nobody), 403);
    assert.equal(
      await statusOf('/clusters/gamma/api/v1/configmaps', nobody),
      403,
      'nor is told which clusters there are',
    );
    assert.equal(await statusOf(ALL_MAPS, await userWith([LIST_MAPS])), 403);
    assert.equal(await statusOf('/api', nobody), 200, 'discovery is for all who are authenticated');
    const { url, ca } = fleet.hub;
    await using transport = createTransport({ server: url, caData: ca.cert, credential: { kind: 'none' } });
    assert.equal(await statusOf('/api', createClient({ transport })), 403);
    assert.equal(await statusOf(ALL_MAPS, createClient({ transport })), 403);
  });

  test('everything of a kind', async () => {
    const client = await userWith([LIST_MAPS, SEARCH_ALL]);
    assert.deepEqual(clustersIn(await fleet.ask(ALL_MAPS, { client })), ['alpha', 'beta']);
    assert.equal(await statusOf('/api/v1/secrets', client), 403);
    assert.equal(
      await statusOf('/clusters/alpha/api/v1/namespaces/default/configmaps/a', client),
      403,
      'get is not list',
    );
  });

  test('some clusters: the others are left out, and it is said', async () => {
    const client = await userWith([LIST_MAPS, rule('search', 'asterism.dev', 'clusters', 'beta')]);
    const answer = await fleet.ask(ALL_MAPS, { client });
    assert.deepEqual(clustersIn(answer), ['beta']);
    assert.deepEqual(answer.warnings, ['299 - "search: 1 cluster was left out: you may not search it"']);
    assert.equal(await statusOf(`/clusters/alpha${ALL_MAPS}`, client), 403);
    assert.equal(await statusOf(`${ALL_MAPS}?clusters=alpha,beta`, client), 403);
  });

  test('one namespace, and nothing beside it', async () => {
    const client = await userWith([LIST_MAPS, SEARCH_ALL], 'default');
    assert.deepEqual(clustersIn(await fleet.ask('/api/v1/namespaces/default/configmaps', { client })), [
      'alpha',
      'beta',
    ]);
    assert.equal(await statusOf(ALL_MAPS, client), 403);
    assert.equal(await statusOf('/api/v1/namespaces/kube-public/configmaps', client), 403);
    assert.equal(await statusOf(`${ALL_MAPS}?namespaces=default,kube-public`, client), 403);
  });

  test('Secrets need a rule that says so', async () => {
    const secrets = '/api/v1/namespaces/default/secrets';
    const lister = await userWith([rule('list', '', 'secrets'), SEARCH_ALL]);
    assert.equal(await statusOf(secrets, lister), 403);
    const client = await userWith([rule('list', '', 'secrets'), rule('search', '', 'secrets'), SEARCH_ALL]);
    assert.deepEqual(clustersIn(await fleet.ask(secrets, { client })), ['alpha']);
  });
});

test('a long list leaves in pieces, and is whole', async (t) => {
  await start();
  t.after(stop);
  const names = Array.from({ length: 520 }, (_, index) => `map-${String(index).padStart(4, '0')}`);
  for (let from = 0; from < names.length; from += 200) await alpha.put(...names.slice(from, from + 200));
  await fleet.join('alpha', alpha, MAPS);
  await fleet.store.until(() => fleet.store.writes.includes('finish configmaps'));
  assert.deepEqual(
    await fleet.found(ALL_MAPS),
    names.map((name) => `alpha/default/${name}`),
  );
  const limited = (await fleet.ask(`${ALL_MAPS}?limit=510`, { accept: TABLE })).body as {
    rows: unknown[];
    metadata: object;
  };
  assert.equal(limited.rows.length, 510);
  assert.deepEqual(Object.keys(limited.metadata), ['continue', 'remainingItemCount']);
});
