import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, beforeEach, describe, test } from 'node:test';
import { loadKubeconfig, parseKubeconfig } from '@asterism/client';
import { reply } from '@asterism/client/testing';
import { CommandError, EXIT } from '../exit-code.ts';
import { type FakeHub, fakeTerminal, startFakeHub, USER_TOKEN } from '../testing/fake-hub.ts';
import { type KubeconfigFlags, writeContexts } from './kubeconfig.ts';

describe('aster kubeconfig', () => {
  let hub: FakeHub;
  let folder: string;
  let clusters: string[];
  let mayList: boolean;

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'aster-kubeconfig-'));
    hub = await startFakeHub((_, response) =>
      mayList
        ? reply(response, { items: clusters.map((name) => ({ metadata: { name } })) })
        : reply(response, { kind: 'Status', reason: 'Forbidden', code: 403, message: 'you may not list' }, 403),
    );
  });
  after(async () => {
    await hub[Symbol.asyncDispose]();
    await rm(folder, { recursive: true });
  });
  beforeEach(() => {
    clusters = ['edge-2', 'edge-1'];
    mayList = true;
  });

  async function run(flags: Partial<KubeconfigFlags> = {}) {
    const terminal = fakeTerminal();
    assert.equal(await writeContexts({ kubeconfig: hub.kubeconfig, name: 'asterism', ...flags }, terminal), EXIT.fine);
    return terminal;
  }

  test('prints a whole kubeconfig, with the credential of the caller', async () => {
    const { stdout, stderr } = await run();
    const printed = await parseKubeconfig(stdout);
    assert.equal(printed['current-context'], 'asterism');
    assert.deepEqual(
      printed.contexts.map(({ name }) => name),
      ['asterism', 'asterism-search', 'asterism/edge-1', 'asterism/edge-2'],
    );
    assert.deepEqual(printed.users, [{ name: 'asterism', user: { token: USER_TOKEN } }]);
    assert.equal(stderr, '');
  });

  test('of those alone that -C names, which need not be listed', async () => {
    mayList = false;
    const printed = await parseKubeconfig((await run({ clusters: 'edge-7' })).stdout);
    assert.equal(printed.clusters.at(-1)?.cluster.server.replace(hub.url, ''), MEMBER);
    await assert.rejects(run(), (error) => error instanceof CommandError && error.exitCode === EXIT.forbidden);
  });

  const MEMBER = '/apis/proxy.asterism.dev/v1alpha1/clusters/edge-7/proxy';

  test('writes a new file for its owner alone, and no file twice', async () => {
    const output = join(folder, 'new');
    const { stdout, stderr } = await run({ output });
    assert.equal(stdout, '');
    assert.equal(stderr, `Wrote to ${output}: asterism, asterism-search, asterism/edge-1, asterism/edge-2\n`);
    assert.equal((await stat(output)).mode & 0o777, 0o600);
    await assert.rejects(run({ output }), /is there already: --merge/);
  });

  test('merges: what others wrote stays, what is gone goes', async () => {
    const output = join(folder, 'merged');
    const foreign =
      '# mine\ncurrent-context: work\ncontexts:\n  - name: work\n    context: { cluster: w, user: w } # so\n';
    await writeFile(output, foreign);
    await run({ output, merge: true });
    clusters = ['edge-2'];
    await run({ output, merge: true });
    assert.match(await readFile(output, 'utf8'), /asterism\/edge-1/);
    const { stderr } = await run({ output, merge: true, prune: true });
    assert.match(stderr, /^Removed from it: asterism\/edge-1$/m);
    const text = await readFile(output, 'utf8');
    assert.ok(text.startsWith(foreign.trimEnd()), text);
    const names = (await loadKubeconfig(output)).contexts.map(({ name }) => name);
    assert.deepEqual(names, ['work', 'asterism', 'asterism-search', 'asterism/edge-2']);
  });

  test('a context of a member that it wrote leads to the hub still', async () => {
    const output = join(folder, 'again');
    await run({ output });
    const again = await run({ kubeconfig: output, context: 'asterism/edge-1' });
    assert.equal(again.stdout, await readFile(output, 'utf8'));
  });

  const refused: [name: string, flags: Partial<KubeconfigFlags>, message: RegExp][] = [
    ['--prune of nothing', { prune: true }, /--merge/],
    ['--all and some', { all: true, clusters: 'a' }, /--all and -C/],
    ['a name with a slash', { name: 'a/b' }, /--name/],
    ['a cluster that is not there', { clusters: 'edge-9' }, /no cluster "edge-9": there are edge-1, edge-2/],
  ];
  for (const [name, flags, message] of refused) {
    test(`refuses ${name}`, async () => {
      await assert.rejects(run(flags), (error) => error instanceof CommandError && message.test(error.message));
    });
  }

  test('a file that is none is left as it is, named and not quoted', async () => {
    const output = join(folder, 'broken');
    await writeFile(output, 'users: {s3cret');
    await assert.rejects(run({ output, merge: true }), (error: Error) => {
      assert.match(error.message, /broken: kubeconfig is neither YAML nor JSON/);
      assert.doesNotMatch(error.message, /s3cret/);
      return true;
    });
    assert.equal(await readFile(output, 'utf8'), 'users: {s3cret');
  });
});
