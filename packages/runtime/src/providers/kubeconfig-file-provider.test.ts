import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rename, rm, symlink, unlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { AUTHORITY } from '@asterism/client/testing';
import type { Cluster } from '../cluster/cluster.ts';
import { createKubeconfigFileProvider, type KubeconfigFileProviderOptions } from './kubeconfig-file-provider.ts';
import { kubeconfigOf, PODS, ProviderTrial } from './testing/provider-trial.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'runtime-files-'));
});
afterEach(() => rm(folder, { recursive: true }));

const follow = (options: Partial<KubeconfigFileProviderOptions> = {}): Promise<ProviderTrial> =>
  ProviderTrial.start((_, logger) => createKubeconfigFileProvider({ paths: [folder], logger, ...options }));

/** Before a server closes idle connections by itself. */
const IN_TIME = { timeout: 4_000 };

/** Connections that nothing runs on. */
async function leaveIdle({ client }: Cluster): Promise<void> {
  const pods = client.resource(PODS);
  await Promise.all([pods.list(), pods.list()]);
}

/** As a tool that knows what it does. */
async function put(name: string, text: string): Promise<void> {
  await writeFile(join(folder, `${name}.tmp`), text);
  await rename(join(folder, `${name}.tmp`), join(folder, name));
}

describe('a folder of kubeconfigs', () => {
  test('files that are there, that come and that go are clusters', IN_TIME, async () => {
    await using trial = await follow();
    const [paris, lyon] = [await trial.api(), await trial.api()];
    await put('paris.kubeconfig.yaml', kubeconfigOf({ x: { server: paris.url, token: 'a' } }));
    const cluster = await trial.engaged('paris');
    await put('eu-1.2', kubeconfigOf({ x: { server: lyon.url, token: 'a' } }));
    await trial.engaged('eu-1.2');
    assert.deepEqual(trial.names(), ['eu-1.2', 'paris']);
    await paris.called(({ watch }) => watch);
    await leaveIdle(cluster);
    await unlink(join(folder, 'paris.kubeconfig.yaml'));
    await trial.left('paris');
    assert.equal(cluster.signal.aborted, true);
    assert.throws(() => cluster.cache.get(PODS, { namespace: 'n', name: 'p' }));
    await paris.silent();
    assert.deepEqual(trial.names(), ['eu-1.2']);
  });

  test('new credentials go to the cluster that is there: its store stays, its watch goes on', async () => {
    await using trial = await follow();
    const api = await trial.api();
    await put('paris', kubeconfigOf({ x: { server: api.url, token: 'old' } }));
    const cluster = await trial.engaged('paris');
    await api.called(({ watch, headers }) => watch && headers.authorization === 'Bearer old');
    await put('paris', kubeconfigOf({ y: { server: `${api.url}/`, token: 'new' } }));
    await api.called(({ watch, headers }) => watch && headers.authorization === 'Bearer new');
    assert.equal(trial.manager.cluster('paris'), cluster);
    assert.equal(cluster.cache.get(PODS, { namespace: 'n', name: 'p' })?.metadata?.name, 'p');
    const ofPods = api.calls.filter(({ path }) => path === '/api/v1/pods');
    const lists = ofPods.filter(({ watch, query }) =>
      watch ? query.has('sendInitialEvents') : query.get('limit') !== '1',
    );
    assert.equal(lists.length, 1, 'resuming only asks where it stands');
    await cluster.client.resource(PODS).list();
    assert.equal(api.calls.at(-1)?.headers.authorization, 'Bearer new');
  });

  test('another address is another cluster: all that was known is dropped', async () => {
    await using trial = await follow();
    const [before, after] = [await trial.api(), await trial.api()];
    after.remove('/api/v1/pods', 'p', 'n');
    await put('paris', kubeconfigOf({ x: { server: before.url, token: 't' } }));
    const cluster = await trial.engaged('paris');
    await put('paris', kubeconfigOf({ x: { server: after.url, token: 't' } }));
    await trial.left('paris');
    const next = await trial.engaged('paris');
    assert.notEqual(next, cluster);
    assert.deepEqual(next.cache.list(PODS), []);
    await before.silent();
  });

  test('one that makes no sense is reported without what it holds, and changes nothing', async () => {
    await using trial = await follow();
    const api = await trial.api();
    await put('paris', kubeconfigOf({ x: { server: api.url, token: 't' } }));
    const cluster = await trial.engaged('paris');
    await put('lyon', 'users: [{ name: x, user: { token: sesame ]');
    assert.match(await trial.log.line(/lyon cannot be used/), /warn .*lyon cannot be used: .*neither YAML nor JSON/);
    await put('paris', JSON.stringify({ 'current-context': 'sesame-not', contexts: [] }));
    assert.match(
      await trial.log.line(/paris cannot be used/),
      /context "sesame-not" is not in the kubeconfig; cluster "paris" stays as it was/,
    );
    assert.equal(trial.manager.cluster('paris'), cluster);
    await put('lyon', kubeconfigOf({ x: { server: (await trial.api()).url, token: 't' } }));
    await trial.engaged('lyon');
    assert.match(await trial.log.line(/can be used now/), /lyon can be used now/);
    assert.ok(!trial.log.lines.some((line) => line.includes('token: sesame')));
  });

  test('a file that cannot be reached holds up nobody', async () => {
    await using trial = await follow();
    const [silent, well] = [await trial.api(), await trial.api()];
    silent.fault(() => true);
    await put('a-silent', kubeconfigOf({ x: { server: silent.url, token: 't' } }));
    await put('b-closed', kubeconfigOf({ x: { server: 'http://127.0.0.1:9', token: 't' } }));
    await put('c-well', kubeconfigOf({ x: { server: well.url, token: 't' } }));
    await trial.engaged('c-well');
    assert.deepEqual(trial.names(), ['a-silent', 'b-closed', 'c-well']);
  });

  test('only what has changed is read again', async () => {
    const read: string[] = [];
    await using trial = await follow({
      clusterName: ({ path }) => {
        read.push(basename(path));
        return basename(path);
      },
    });
    const api = await trial.api();
    await put('paris', kubeconfigOf({ x: { server: api.url, token: 't' } }));
    await trial.engaged('paris');
    await put('lyon', kubeconfigOf({ x: { server: api.url, token: 't' } }));
    await trial.engaged('lyon');
    await put('lyon', kubeconfigOf({ x: { server: api.url, token: 'u' } }));
    await trial.log.line(/credentials of the cluster were replaced/);
    assert.deepEqual(read, ['paris', 'lyon', 'lyon']);
  });

  test('a volume whose links are swapped at once, as the kubelet does', async () => {
    const version = async (name: string, token: string, server: string): Promise<void> => {
      await mkdir(join(folder, `..${name}`));
      await writeFile(join(folder, `..${name}`, 'paris'), kubeconfigOf({ x: { server, token } }));
      await symlink(`..${name}`, join(folder, `..data-${name}`));
      await rename(join(folder, `..data-${name}`), join(folder, '..data'));
    };
    await using trial = await follow();
    const api = await trial.api();
    await version('v1', 'old', api.url);
    await symlink('..data/paris', join(folder, 'paris'));
    const cluster = await trial.engaged('paris');
    await version('v2', 'new', api.url);
    await api.called(({ watch, headers }) => watch && headers.authorization === 'Bearer new');
    assert.equal(trial.manager.cluster('paris'), cluster);
    assert.deepEqual(trial.names(), ['paris']);
  });
});

describe('listed files', () => {
  test('one that is a link to a file elsewhere, which changes', async () => {
    const [elsewhere, path] = [join(folder, 'elsewhere'), join(folder, 'links', 'paris')];
    await mkdir(elsewhere);
    await mkdir(join(folder, 'links'));
    await using trial = await follow({ paths: [path] });
    const api = await trial.api();
    const kubeconfig = (token: string): string => kubeconfigOf({ x: { server: api.url, token } });
    await put('elsewhere/config', kubeconfig('old'));
    await symlink(join(elsewhere, 'config'), path);
    await trial.engaged('paris');
    await put('elsewhere/config', kubeconfig('new'));
    await api.called(({ watch, headers }) => watch && headers.authorization === 'Bearer new');
  });

  test('one that is not there yet is reported, then engaged; its certificate file counts as part of it', async () => {
    const [path, authority] = [join(folder, 'deep', 'paris'), join(folder, 'pki', 'ca.crt')];
    await mkdir(join(folder, 'deep'));
    await mkdir(join(folder, 'pki'));
    await using trial = await follow({ paths: [path] });
    const api = await trial.api();
    assert.match(await trial.log.line(/paris cannot be used/), /there is no such file or folder/);
    await writeFile(authority, 'no certificate');
    const cluster = { 'certificate-authority': '../pki/ca.crt' };
    await writeFile(path, kubeconfigOf({ x: { server: api.url, token: 't', cluster } }));
    await trial.log.line(/paris cannot be used: the certificate authority is not a certificate in PEM/);
    await writeFile(authority, AUTHORITY);
    await trial.engaged('paris');
  });

  test("all contexts of a file, and a name of one's own", async () => {
    const path = join(folder, 'config');
    await using trial = await follow({
      paths: [path],
      contexts: 'all',
      clusterName: ({ context, path: from }) => `${from === path}:${context}`,
    });
    const api = await trial.api();
    await writeFile(path, kubeconfigOf({ a: { server: api.url, token: 't' }, b: { server: api.url, token: 't' } }));
    await Promise.all([trial.engaged('true:a'), trial.engaged('true:b')]);
    await put('config', kubeconfigOf({ b: { server: api.url, token: 't' } }));
    await trial.left('true:a');
    assert.deepEqual(trial.names(), ['true:b']);
    await rm(path);
    await trial.left('true:b');
  });

  test('two files that give one name: the first has it, the second takes over', async () => {
    await using trial = await follow({ clusterName: () => 'same' });
    const [one, two] = [await trial.api(), await trial.api()];
    await put('one', kubeconfigOf({ x: { server: one.url, token: 't' } }));
    await trial.engaged('same');
    await put('two', kubeconfigOf({ x: { server: two.url, token: 't' } }));
    await trial.log.line(/two offers cluster "same" too, which .*one has/);
    assert.equal(two.calls.length, 0);
    await unlink(join(folder, 'one'));
    await two.called(({ watch }) => watch);
    await one.silent();
  });
});

test('a manager that stops closes what was opened', IN_TIME, async () => {
  await using trial = await follow();
  const api = await trial.api();
  await put('paris', kubeconfigOf({ x: { server: api.url, token: 't' } }));
  const cluster = await trial.engaged('paris');
  await api.called(({ watch }) => watch);
  await leaveIdle(cluster);
  await trial.stop();
  await api.silent();
});
