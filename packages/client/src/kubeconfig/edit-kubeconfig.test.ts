import assert from 'node:assert/strict';
import { chmod, lstat, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { editKubeconfig, type KubeconfigEdit } from './edit-kubeconfig.ts';
import { parseKubeconfig } from './kubeconfig.ts';
import { rewriteKubeconfig } from './rewrite-kubeconfig.ts';

const edit: KubeconfigEdit = {
  set: {
    clusters: [{ name: 'hub', cluster: { server: 'https://hub:7443' } }],
    users: [{ name: 'hub', user: { token: 't' } }],
    contexts: [{ name: 'hub', context: { cluster: 'hub', user: 'hub' } }],
  },
  remove: { contexts: ['gone'], clusters: ['gone'] },
  currentContext: 'hub',
};

const FOREIGN = `# mine, do not touch
apiVersion: v1
kind: Config
preferences: {colors: true}
clusters:
- name: work # the important one
  cluster: {server: 'https://work', extra-field: kept}
- cluster: {server: https://old}
  name: hub
- name: gone
  cluster: {server: https://gone}
users:
- name: work
  user:
    client-certificate-data: ${'QUJD'.repeat(100)}
contexts: []
current-context: work
`;

const rows: [name: string, text: string, expected: string][] = [
  [
    'nothing',
    '',
    `apiVersion: v1
kind: Config
clusters:
  - name: hub
    cluster:
      server: https://hub:7443
users:
  - name: hub
    user:
      token: t
contexts:
  - name: hub
    context:
      cluster: hub
      user: hub
current-context: hub
`,
  ],
  [
    "somebody's YAML, with comments and fields of its own",
    FOREIGN,
    `# mine, do not touch
apiVersion: v1
kind: Config
preferences: { colors: true }
clusters:
  - name: work # the important one
    cluster: { server: 'https://work', extra-field: kept }
  - name: hub
    cluster:
      server: https://hub:7443
users:
  - name: work
    user:
      client-certificate-data: ${'QUJD'.repeat(100)}
  - name: hub
    user:
      token: t
contexts:
  - name: hub
    context:
      cluster: hub
      user: hub
current-context: work
`,
  ],
  [
    'lists that are null, and a current context that is empty',
    'clusters: null\nusers:\ncurrent-context: ""\n',
    `clusters:
  - name: hub
    cluster:
      server: https://hub:7443
users:
  - name: hub
    user:
      token: t
current-context: "hub"
contexts:
  - name: hub
    context:
      cluster: hub
      user: hub
`,
  ],
];
describe('a kubeconfig is edited', () => {
  for (const [name, text, expected] of rows) {
    test(name, async () => {
      const edited = await editKubeconfig(text, edit);
      assert.equal(edited, expected);
      await parseKubeconfig(edited);
      assert.equal(await editKubeconfig(edited, edit), expected, 'a second time nothing changes');
    });
  }

  test('JSON stays JSON', async () => {
    const text = '{"kind":"Config","mine":1,"contexts":[{"name":"gone","context":{"cluster":"c","user":"u"}}]}';
    const edited = await editKubeconfig(text, edit);
    assert.deepEqual(JSON.parse(edited), {
      kind: 'Config',
      mine: 1,
      ...edit.set,
      'current-context': 'hub',
    });
  });

  const refused: [name: string, text: string][] = [
    ['YAML that is broken', 'users: [{name: a, user: {token: s3cret}'],
    ['JSON that is broken', '{"users": "s3cret"'],
    ['a list instead', '- s3cret'],
    ['users that are no list', 'users: s3cret'],
  ];
  for (const [name, text] of refused) {
    test(`not ${name}, of which nothing is quoted`, async () => {
      await assert.rejects(editKubeconfig(text, edit), (error: Error & { code?: string }) => {
        assert.equal(error.code, 'ERR_KUBECONFIG');
        assert.doesNotMatch(error.message, /s3cret/);
        return true;
      });
    });
  }
});

describe('a kubeconfig is rewritten', () => {
  async function folder(): Promise<AsyncDisposable & { path: string }> {
    const path = await mkdtemp(join(tmpdir(), 'kubeconfig-'));
    return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true }) };
  }

  test('for its owner alone, whatever it was', async () => {
    await using place = await folder();
    const file = join(place.path, 'config');
    await writeFile(file, 'old', { mode: 0o644 });
    await chmod(file, 0o644);
    await rewriteKubeconfig(file, (text) => `${text} and new`);
    assert.equal(await readFile(file, 'utf8'), 'old and new');
    assert.equal((await stat(file)).mode & 0o777, 0o600);
    assert.deepEqual(await readdir(place.path), ['config']);
  });

  test('where there is none, nor its folder', async () => {
    await using place = await folder();
    const file = join(place.path, '.kube', 'config');
    await rewriteKubeconfig(file, (text) => `${text}new`);
    assert.equal(await readFile(file, 'utf8'), 'new');
  });

  test('behind a link, which stays one', async () => {
    await using place = await folder();
    const [real, link] = [join(place.path, 'real'), join(place.path, 'link')];
    for (const before of ['', 'old']) {
      if (before !== '') await writeFile(real, before);
      else await symlink('real', link);
      await rewriteKubeconfig(link, (text) => `${text}+`);
      assert.equal(await readFile(real, 'utf8'), `${before}+`);
      assert.ok((await lstat(link)).isSymbolicLink());
    }
  });

  test('not while somebody else does, and nothing is left of that', async () => {
    await using place = await folder();
    const file = join(place.path, 'config');
    await writeFile(`${file}.lock`, '');
    await assert.rejects(
      rewriteKubeconfig(file, () => 'new'),
      { code: 'ERR_KUBECONFIG_LOCKED' },
    );
    assert.deepEqual(await readdir(place.path), ['config.lock']);
  });

  test('not where the change fails, and nothing is left of that', async () => {
    await using place = await folder();
    const file = join(place.path, 'config');
    await writeFile(file, 'old');
    await assert.rejects(
      rewriteKubeconfig(file, () => {
        throw new Error('no');
      }),
      /^Error: no$/,
    );
    assert.equal(await readFile(file, 'utf8'), 'old');
    assert.deepEqual(await readdir(place.path), ['config']);
  });
});
