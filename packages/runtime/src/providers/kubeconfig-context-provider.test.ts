import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { afterEach, beforeEach, describe, test } from 'node:test';
import {
  createKubeconfigContextProvider,
  type KubeconfigContextProviderOptions,
} from './kubeconfig-context-provider.ts';
import { kubeconfigOf, ProviderTrial } from './testing/provider-trial.ts';

let folder: string;
let path: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'runtime-contexts-'));
  path = join(folder, 'config');
});
afterEach(() => rm(folder, { recursive: true }));

const follow = (options: Partial<KubeconfigContextProviderOptions> = {}): Promise<ProviderTrial> =>
  ProviderTrial.start((_, logger) => createKubeconfigContextProvider({ path, logger, ...options }));

describe('the contexts of a kubeconfig', () => {
  test('each is a cluster; one that is added comes, one that is taken out goes, the others notice nothing', async () => {
    await using trial = await follow();
    const [paris, lyon] = [await trial.api(), await trial.api()];
    const both = { paris: { server: paris.url, token: 't' }, lyon: { server: lyon.url, token: 't' } };
    await writeFile(path, kubeconfigOf({ paris: both.paris }));
    const cluster = await trial.engaged('paris');
    await writeFile(path, kubeconfigOf(both));
    await trial.engaged('lyon');
    assert.equal(trial.manager.cluster('paris'), cluster);
    await writeFile(path, kubeconfigOf({ lyon: both.lyon }));
    await trial.left('paris');
    await paris.silent();
    assert.deepEqual(trial.names(), ['lyon']);
  });

  test('one that is broken is named and harms no other', async () => {
    await using trial = await follow();
    const api = await trial.api();
    const basic = { username: 'admin', password: 'sesame' };
    const key = { 'client-certificate-data': 'c2VzYW1l', 'client-key-data': 'c2VzYW1l' };
    const plain = JSON.parse(kubeconfigOf({ well: { server: api.url, token: 't' } }));
    const broken = JSON.parse(
      kubeconfigOf({
        basic: { server: api.url, user: basic },
        key: { server: api.url, user: key },
        address: { server: 'https://me:sesame@127.0.0.1', token: 't' },
        type: { server: api.url, token: { sesame: 1 } as unknown as string },
      }),
    );
    for (const list of ['clusters', 'users', 'contexts']) broken[list].push(...plain[list]);
    await writeFile(path, JSON.stringify(broken));
    await trial.engaged('well');
    assert.deepEqual(trial.names(), ['well']);
    for (const [name, why] of [
      ['basic', 'user "basic": basic authentication is gone since Kubernetes 1.19'],
      ['key', 'the client certificate and its key cannot be used'],
      ['address', 'the address of 127.0.0.1 holds a password: use a token'],
      ['type', 'its token is not a text'],
    ]) {
      assert.match(await trial.log.line(new RegExp(`context "${name}" of`)), new RegExp(`cannot be used: .*${why}`));
    }
    assert.ok(!trial.log.lines.some((line) => /sesame|c2VzYW1l/.test(line)));
  });

  test('those that are asked for: one that is not there is named, once, and is engaged when it comes', async () => {
    await using trial = await follow({ contexts: ['b', 'c'], rereadMs: 20, clusterName: (context) => `my-${context}` });
    const api = await trial.api();
    const [a, b, c] = [1, 2, 3].map(() => ({ server: api.url, token: 't' }));
    assert.ok(a && b && c);
    await writeFile(path, kubeconfigOf({ a, b }));
    await trial.engaged('my-b');
    assert.match(await trial.log.line(/context "c"/), /cannot be used: there is no such context/);
    await writeFile(path, kubeconfigOf({ a, c }));
    await trial.engaged('my-c');
    await trial.left('my-b');
    assert.equal(trial.log.lines.filter((line) => line.includes('context \\"c\\"')).length, 2, 'not at each reading');
    assert.deepEqual(trial.names(), ['my-c']);
  });

  test('a file that is gone takes its clusters along; one that makes no sense does not', async () => {
    await using trial = await follow();
    const api = await trial.api();
    await writeFile(path, kubeconfigOf({ a: { server: api.url, token: 't' } }));
    const cluster = await trial.engaged('a');
    await writeFile(path, '{');
    assert.match(await trial.log.line(/neither YAML nor JSON/), /config cannot be used/);
    assert.equal(trial.manager.cluster('a'), cluster);
    await rm(path);
    await trial.left('a');
    await trial.log.line(/cannot be used: cannot read the kubeconfig .*ENOENT/);
    await writeFile(path, kubeconfigOf({ a: { server: api.url, token: 't' } }));
    await trial.engaged('a');
  });

  test('without a path: the files of $KUBECONFIG, merged', async (t) => {
    const before = process.env['KUBECONFIG'];
    t.after(() => {
      if (before === undefined) delete process.env['KUBECONFIG'];
      else process.env['KUBECONFIG'] = before;
    });
    process.env['KUBECONFIG'] = [join(folder, 'one'), join(folder, 'two')].join(delimiter);
    await using trial = await follow({ path: undefined });
    const [one, two] = [await trial.api(), await trial.api()];
    await writeFile(join(folder, 'one'), kubeconfigOf({ a: { server: one.url, token: 't' } }));
    await trial.engaged('a');
    await writeFile(join(folder, 'two'), kubeconfigOf({ b: { server: two.url, token: 't' } }));
    await trial.engaged('b');
    assert.deepEqual(trial.names(), ['a', 'b']);
  });
});
