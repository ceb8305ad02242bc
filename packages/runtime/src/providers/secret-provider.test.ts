import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { ManualClock } from '@asterism/client/testing';
import type { KubeObject } from '@asterism/machinery';
import { answer, FakeApi, failure } from '../testing/fake-api.ts';
import { createClusterApiProvider } from './cluster-api-provider.ts';
import { createSecretProvider, type SecretProviderOptions } from './secret-provider.ts';
import { kubeconfigOf, PODS, ProviderTrial } from './testing/provider-trial.ts';

const SECRETS = '/api/v1/secrets';
const base64 = (text: string): string => Buffer.from(text).toString('base64');

function secret(name: string, data: Record<string, string>, metadata: object = {}): KubeObject {
  const encoded = Object.fromEntries(Object.entries(data).map(([key, text]) => [key, base64(text)]));
  return { metadata: { name, namespace: 'fleet', ...metadata }, data: encoded } as KubeObject;
}

const follow = (options: Partial<SecretProviderOptions> = {}): Promise<ProviderTrial> =>
  ProviderTrial.start((hub, logger) =>
    createSecretProvider({ client: hub.client(), namespace: 'fleet', logger, ...options }),
  );

describe('Secrets with a label', () => {
  test('each is a cluster, from its coming to its going', async () => {
    await using trial = await follow();
    const api = await trial.api();
    trial.hub.put(SECRETS, secret('paris', { kubeconfig: kubeconfigOf({ x: { server: api.url, token: 't' } }) }));
    const cluster = await trial.engaged('paris');
    const { path, query } = await trial.hub.called(({ watch }) => watch);
    assert.equal(path, '/api/v1/namespaces/fleet/secrets');
    assert.equal(query.get('labelSelector'), 'sigs.k8s.io/multicluster-runtime-kubeconfig=true');
    trial.hub.remove(SECRETS, 'paris', 'fleet');
    await trial.left('paris');
    await api.silent();
    assert.throws(() => cluster.cache.get(PODS, { namespace: 'n', name: 'p' }));
    assert.equal(trial.manager.cluster('paris'), undefined);
  });

  test('the manager is not ready before they are listed, and says what that hangs on', async () => {
    await using trial = await follow();
    const refuse = trial.hub.fault(({ path, response }) => {
      if (!path.endsWith('/secrets')) return false;
      answer(response, 403, failure(403, 'Forbidden'));
      return true;
    });
    await trial.manager.ready();
    while (!trial.manager.whyNotReady().join().includes('403')) await new Promise(setImmediate);
    assert.deepEqual(trial.manager.whyNotReady(), ['secrets (kubeconfig Secrets): HTTP 403: Forbidden']);
    refuse();
    while (trial.manager.whyNotReady().length > 0) await new Promise(setImmediate);
    await trial.stop();
    assert.deepEqual(trial.manager.whyNotReady(), ['the manager stops']);
  });

  test('new credentials go to the cluster that is there; what else changes on the Secret does nothing', async () => {
    await using trial = await follow();
    const api = await trial.api();
    const put = (token: string, annotations = {}): KubeObject =>
      trial.hub.put(
        SECRETS,
        secret('paris', { kubeconfig: kubeconfigOf({ x: { server: api.url, token } }) }, { annotations }),
      );
    put('old');
    const cluster = await trial.engaged('paris');
    await api.called(({ watch }) => watch);
    put('old', { note: 'x' });
    put('new');
    await api.called(({ watch, headers }) => watch && headers.authorization === 'Bearer new');
    assert.equal(trial.manager.cluster('paris'), cluster);
    assert.equal(cluster.cache.get(PODS, { namespace: 'n', name: 'p' })?.metadata?.name, 'p');
    assert.equal(trial.log.lines.filter((line) => line.includes('credentials of the cluster were replaced')).length, 1);
  });

  test('many changes at once: the last one counts', async () => {
    await using trial = await follow();
    const api = await trial.api();
    for (let i = 0; i <= 20; i++) {
      const kubeconfig = kubeconfigOf({ x: { server: api.url, token: `t${i}` } });
      trial.hub.put(SECRETS, secret('paris', { kubeconfig }));
    }
    await trial.engaged('paris');
    for (let i = 21; i <= 40; i++) {
      const kubeconfig = kubeconfigOf({ x: { server: api.url, token: `t${i}` } });
      trial.hub.put(SECRETS, secret('paris', { kubeconfig }));
    }
    await api.called(({ watch, headers }) => watch && headers.authorization === 'Bearer t40');
    await trial.manager.cluster('paris')?.client.resource(PODS).list();
    assert.equal(api.calls.at(-1)?.headers.authorization, 'Bearer t40');
  });

  test('one that makes no sense is reported without what it holds, and changes nothing', async () => {
    await using trial = await follow();
    const api = await trial.api();
    const kubeconfig = kubeconfigOf({ x: { server: api.url, token: 'sesame' } });
    const files = { 'client-certificate': '/etc/passwd', 'client-key': '/etc/passwd' };
    const rows: [name: string, data: Record<string, string>, why: RegExp][] = [
      ['empty', {}, /its data has no "kubeconfig"/],
      ['other-key', { config: kubeconfig }, /its data has no "kubeconfig"/],
      ['garbage', { kubeconfig: 'a: sesame: b' }, /neither YAML nor JSON/],
      ['no-server', { kubeconfig: kubeconfigOf({ x: { server: '' } }) }, /cluster "x" has no server/],
      [
        'program',
        { kubeconfig: kubeconfigOf({ x: { server: api.url, user: { exec: { command: '/bin/sh' } } } }) },
        /exec would use this machine's programs or files, which only "trusted" allows/,
      ],
      [
        'token-file',
        { kubeconfig: kubeconfigOf({ x: { server: api.url, user: { tokenFile: '/etc/passwd' } } }) },
        /tokenFile would use/,
      ],
      [
        'certificate-files',
        { kubeconfig: kubeconfigOf({ x: { server: api.url, user: files } }) },
        /client-certificate and client-key would use/,
      ],
    ];
    for (const [name, data] of rows) trial.hub.put(SECRETS, secret(name, data));
    trial.hub.put(SECRETS, secret('well', { kubeconfig }));
    const cluster = await trial.engaged('well');
    for (const [name, , why] of rows) {
      assert.match(await trial.log.line(new RegExp(`warn Secret fleet/${name} cannot be used`)), why);
    }
    trial.hub.put(SECRETS, secret('well', { kubeconfig: '{' }));
    await trial.log.line(/Secret fleet\/well cannot be used: .*; cluster "well" stays as it was/);
    assert.equal(trial.manager.cluster('well'), cluster);
    assert.deepEqual(trial.names(), ['well']);
    assert.ok(!trial.log.lines.some((line) => line.includes('sesame') || line.includes(base64('sesame'))));
  });

  test('one that leads nowhere holds up nobody', async () => {
    await using trial = await follow();
    const [silent, well] = [await trial.api(), await trial.api()];
    silent.fault(() => true);
    const put = (name: string, server: string): KubeObject =>
      trial.hub.put(SECRETS, secret(name, { kubeconfig: kubeconfigOf({ x: { server, token: 't' } }) }));
    put('a-silent', silent.url);
    put('b-closed', 'http://127.0.0.1:9');
    put('c-well', well.url);
    await trial.engaged('c-well');
    assert.deepEqual(trial.names(), ['a-silent', 'b-closed', 'c-well']);
    trial.hub.remove(SECRETS, 'a-silent', 'fleet');
    await trial.left('a-silent');
    await silent.silent();
  });

  test("a name, a key and a context of one's own; all namespaces; other programs where they are trusted", async () => {
    await using trial = await follow({
      namespace: undefined,
      labelSelector: 'fleet=yes',
      key: 'config',
      context: 'second',
      trusted: true,
      clusterName: ({ metadata }) => metadata?.annotations?.['cluster'],
    });
    const api = await trial.api();
    const token = JSON.stringify({
      apiVersion: 'client.authentication.k8s.io/v1',
      kind: 'ExecCredential',
      status: { token: 'printed' },
    });
    const exec = { apiVersion: 'client.authentication.k8s.io/v1', command: 'echo', args: [token] };
    const config = kubeconfigOf({ first: { server: 'https://first' }, second: { server: api.url, user: { exec } } });
    trial.hub.put(SECRETS, secret('one', { config }, { annotations: { cluster: 'named' } }));
    trial.hub.put(SECRETS, secret('two', { config }));
    await trial.engaged('named');
    assert.deepEqual(trial.names(), ['named']);
    assert.equal(api.calls[0]?.headers.authorization, 'Bearer printed');
    const { path, query } = await trial.hub.called(({ watch }) => watch);
    assert.deepEqual([path, query.get('labelSelector')], [SECRETS, 'fleet=yes']);
    trial.hub.put(SECRETS, secret('one', { config }));
    await trial.left('named');
  });

  test('Secrets that it may not list are told of, with the status that it hangs on', async () => {
    const clock = new ManualClock();
    const hub = await FakeApi.start();
    hub.fault(({ path, response }) => {
      if (!path.endsWith('/secrets')) return false;
      answer(response, 403, failure(403, 'Forbidden', { message: 'secrets is forbidden' }));
      return true;
    });
    await using trial = await ProviderTrial.start(
      (_, logger) => createSecretProvider({ client: hub.client(), logger, clock }),
      { hub },
    );
    await trial.log.line(/watch interrupted: secrets is forbidden/);
    clock.advance(30_000);
    assert.match(
      await trial.log.line(/still waiting/),
      /warn still waiting for the list of Secrets with clusters: secrets is forbidden .*"code":403/,
    );
  });
});

describe('Cluster API', () => {
  const label = (cluster: string): object => ({ labels: { 'cluster.x-k8s.io/cluster-name': cluster } });

  test('CLUSTER-kubeconfig is a cluster; what else belongs to it is passed over', async () => {
    await using trial = await ProviderTrial.start((hub, logger) =>
      createClusterApiProvider({ client: hub.client(), logger }),
    );
    const api = await trial.api();
    const value = kubeconfigOf({ 'paris-admin@paris': { server: api.url, token: 't' } });
    for (const name of ['paris-ca', 'paris-user-kubeconfig']) {
      trial.hub.put(SECRETS, secret(name, { value, 'tls.key': 'k' }, label('paris')));
    }
    trial.hub.put(SECRETS, secret('lyon-kubeconfig', { value }));
    trial.hub.put(SECRETS, secret('paris-kubeconfig', { value }, label('paris')));
    await trial.engaged('fleet/paris');
    assert.deepEqual(trial.names(), ['fleet/paris']);
    const { query } = await trial.hub.called(({ watch }) => watch);
    assert.equal(query.get('labelSelector'), 'cluster.x-k8s.io/cluster-name');
    assert.ok(!trial.log.lines.some((line) => line.includes('cannot be used')));
    trial.hub.remove(SECRETS, 'paris-kubeconfig', 'fleet');
    await trial.left('fleet/paris');
  });

  test("in one namespace the Cluster's name is enough, or a name of one's own", async () => {
    for (const [clusterName, expected] of [
      [undefined, 'paris'],
      [({ namespace, name }: { namespace: string; name: string }) => `${name}.${namespace}`, 'paris.fleet'],
    ] as const) {
      await using trial = await ProviderTrial.start((hub, logger) =>
        createClusterApiProvider({ client: hub.client(), namespace: 'fleet', clusterName, logger }),
      );
      const api = await trial.api();
      const value = kubeconfigOf({ x: { server: api.url, token: 't' } });
      trial.hub.put(SECRETS, secret('paris-kubeconfig', { value }, label('paris')));
      await trial.engaged(expected);
    }
  });
});
