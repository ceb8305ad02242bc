import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { connectionFromKubeconfig } from './connection-from-kubeconfig.ts';
import { inClusterConnection } from './in-cluster.ts';
import { type Kubeconfig, loadKubeconfig, parseKubeconfig } from './kubeconfig.ts';

let folder: string;
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'client-kubeconfig-'));
});
after(() => rm(folder, { recursive: true }));

const TEXT = `
apiVersion: v1
kind: Config
current-context: dev
clusters:
  - name: dev
    cluster:
      server: https://dev.test:6443
      certificate-authority-data: Q0E=
      tls-server-name: kubernetes
users:
  - name: dev
    user: { token: t }
contexts:
  - name: dev
    context: { cluster: dev, user: dev, namespace: demo }
`;

const withUser = async (user: object): Promise<Kubeconfig> => ({
  ...(await parseKubeconfig(TEXT)),
  users: [{ name: 'dev', user }],
});
const withCluster = async (cluster: object): Promise<Kubeconfig> => ({
  ...(await parseKubeconfig(TEXT)),
  clusters: [{ name: 'dev', cluster: { server: 'https://dev.test', ...cluster } }],
});

describe('parseKubeconfig', () => {
  test('YAML and JSON are the same', async () => {
    const kubeconfig = await parseKubeconfig(TEXT);
    assert.equal(kubeconfig['current-context'], 'dev');
    assert.deepEqual(await parseKubeconfig(JSON.stringify(kubeconfig)), kubeconfig);
  });

  const broken: [name: string, text: string, message: RegExp][] = [
    ['no YAML', 'a: [secret', /neither YAML nor JSON$/],
    ['no JSON', '{ secret', /neither YAML nor JSON$/],
    ['no mapping', '- a', /not a kubeconfig: it is not a mapping/],
    ['another kind', 'kind: Pod', /kind is "Pod", not "Config"/],
    ['no list', 'users: {}', /users is not a list/],
    ['no name', 'clusters: [{ cluster: {} }]', /clusters\[0\] has no name/],
    ['no content', 'contexts: [{ name: a }]', /contexts\[0\] has no context/],
  ];
  for (const [name, text, message] of broken) {
    test(name, () => assert.rejects(parseKubeconfig(text), { code: 'ERR_KUBECONFIG', message }));
  }
});

describe('loadKubeconfig', () => {
  test('paths in it are taken from its folder', async () => {
    const path = join(folder, 'relative');
    const user = { tokenFile: 'token', 'client-key': '/abs/key', exec: { apiVersion: 'v1', command: './bin/login' } };
    const clusters = [{ name: 'c', cluster: { server: 's', 'certificate-authority': 'pki/ca.crt' } }];
    const onPath = { exec: { apiVersion: 'v1', command: 'login' } };
    await writeFile(
      path,
      JSON.stringify({
        clusters,
        users: [
          { name: 'u', user },
          { name: 'v', user: onPath },
        ],
      }),
    );
    const loaded = await loadKubeconfig(path);
    assert.equal(loaded.clusters[0]?.cluster['certificate-authority'], join(folder, 'pki/ca.crt'));
    assert.deepEqual(loaded.users[0]?.user, {
      tokenFile: join(folder, 'token'),
      'client-key': '/abs/key',
      exec: { apiVersion: 'v1', command: join(folder, 'bin/login') },
    });
    assert.equal(loaded.users[1]?.user.exec?.command, 'login');
  });

  test('$KUBECONFIG: files are merged, the first to say something wins, what is missing is passed over', async () => {
    const [one, two] = [join(folder, 'one'), join(folder, 'two')];
    const cluster = (name: string, server: string) => ({ name, cluster: { server } });
    await writeFile(one, JSON.stringify({ clusters: [cluster('a', 'first')] }));
    await writeFile(
      two,
      JSON.stringify({ 'current-context': 'x', clusters: [cluster('a', 'second'), cluster('b', 'second')] }),
    );
    const before = process.env['KUBECONFIG'];
    try {
      process.env['KUBECONFIG'] = `${one}:${join(folder, 'missing')}:${two}`;
      const loaded = await loadKubeconfig();
      assert.deepEqual(loaded.clusters, [cluster('a', 'first'), cluster('b', 'second')]);
      assert.equal(loaded['current-context'], 'x');
      process.env['KUBECONFIG'] = join(folder, 'missing');
      await assert.rejects(loadKubeconfig(), { code: 'ENOENT', message: /none of the files of \$KUBECONFIG exists/ });
    } finally {
      if (before === undefined) delete process.env['KUBECONFIG'];
      else process.env['KUBECONFIG'] = before;
    }
  });

  test('an exec without a command is named', async () => {
    const path = join(folder, 'no-command');
    await writeFile(path, JSON.stringify({ users: [{ name: 'u', user: { exec: { apiVersion: 'v1' } } }] }));
    await assert.rejects(loadKubeconfig(path), {
      code: 'ERR_KUBECONFIG',
      message: /user "u" has an exec without a command/,
    });
  });

  test('a file that is not there is named', () =>
    assert.rejects(loadKubeconfig(join(folder, 'missing')), {
      code: 'ENOENT',
      message: /cannot read the kubeconfig .*missing/,
    }));
});

describe('connectionFromKubeconfig', () => {
  test('the current context, or the one that is named', async () => {
    const kubeconfig = await parseKubeconfig(TEXT);
    kubeconfig.contexts.push({ name: 'nobody', context: { cluster: 'dev', user: '' } });
    const cluster = { server: 'https://dev.test:6443', caData: 'CA', tlsServerName: 'kubernetes' };
    assert.deepEqual(await connectionFromKubeconfig(kubeconfig), {
      ...cluster,
      credential: { kind: 'token', token: 't' },
    });
    assert.deepEqual(await connectionFromKubeconfig(kubeconfig, 'nobody'), {
      ...cluster,
      credential: { kind: 'none' },
    });
  });

  test('every kind of credential', async () => {
    await mkdir(join(folder, 'pki'), { recursive: true });
    const [cert, key] = [join(folder, 'pki/cert'), join(folder, 'pki/key')];
    await writeFile(cert, 'CERT');
    await writeFile(key, 'KEY');
    const exec = { apiVersion: 'client.authentication.k8s.io/v1', command: 'login' };
    const files = { 'client-certificate': cert, 'client-key': key };
    const certificate = { cert: 'CERT', key: 'KEY' };
    const cases: [user: object, credential: object][] = [
      [
        { tokenFile: '/token', token: 'old' },
        { kind: 'tokenFile', path: '/token', token: 'old' },
      ],
      [
        { ...files, token: 't' },
        { kind: 'token', token: 't', certificate },
      ],
      [
        { ...files, tokenFile: '/token' },
        { kind: 'tokenFile', path: '/token', certificate },
      ],
      [
        { ...files, exec },
        { kind: 'certificate', ...certificate },
      ],
      [
        { token: 't', exec },
        { kind: 'token', token: 't' },
      ],
      [
        { tokenFile: '/token', exec },
        { kind: 'tokenFile', path: '/token' },
      ],
      [
        { token: '', username: '', exec },
        { kind: 'exec', exec },
      ],
      [
        { username: '', password: '', token: 't' },
        { kind: 'token', token: 't' },
      ],
      [
        { 'client-certificate': cert, 'client-key': key },
        { kind: 'certificate', cert: 'CERT', key: 'KEY' },
      ],
      [
        { 'client-certificate-data': 'Yw==', 'client-key-data': 'aw==' },
        { kind: 'certificate', cert: 'c', key: 'k' },
      ],
      [{ exec }, { kind: 'exec', exec }],
    ];
    for (const [user, credential] of cases) {
      assert.deepEqual((await connectionFromKubeconfig(await withUser(user))).credential, credential);
    }
  });

  for (const server of ['https://me:secret@hub:6443', 'https://me:secret@hub:99999', 'hub:6443']) {
    test(`no address: ${server}`, async () => {
      const kubeconfig = await parseKubeconfig(TEXT);
      for (const { cluster } of kubeconfig.clusters) cluster.server = server;
      await assert.rejects(connectionFromKubeconfig(kubeconfig), { code: 'ERR_SERVER_URL', message: /^(?!.*secret)/ });
    });
  }

  test('impersonation', async () => {
    const user = { token: 't', as: 'jane', 'as-groups': ['a', 'b'], 'as-uid': '1', 'as-user-extra': { scope: ['x'] } };
    const { impersonate } = await connectionFromKubeconfig(await withUser(user));
    assert.deepEqual(impersonate, { user: 'jane', groups: ['a', 'b'], uid: '1', extra: { scope: ['x'] } });
  });

  test('what is refused is named', async () => {
    const none = { ...(await parseKubeconfig(TEXT)), 'current-context': '' };
    const kubeconfig = await parseKubeconfig(TEXT);
    const cases: [Kubeconfig, string | undefined, RegExp][] = [
      [none, undefined, /no current-context \(it has "dev"\)/],
      [kubeconfig, 'prod', /context "prod" is not in the kubeconfig \(it has "dev"\)/],
      [{ ...kubeconfig, clusters: [] }, undefined, /context "dev": cluster "dev" is not in the kubeconfig/],
      [{ ...kubeconfig, users: [] }, undefined, /context "dev": user "dev" is not in the kubeconfig/],
      [
        await withUser({ username: 'u', password: 'secret' }),
        undefined,
        /basic authentication is gone since Kubernetes 1\.19/,
      ],
      [
        await withUser({ 'auth-provider': { name: 'gcp' } }),
        undefined,
        /auth-provider "gcp" is gone since Kubernetes 1\.26; use exec/,
      ],
      [await withUser({ 'client-key-data': 'aw==' }), undefined, /a client key but no certificate/],
      [await withUser({ 'client-certificate': '/missing' }), undefined, /user "dev": cannot read client-certificate/],
      [
        await withCluster({ 'insecure-skip-tls-verify': true, 'certificate-authority-data': 'Q0E=' }),
        undefined,
        /both a certificate authority and insecure-skip-tls-verify/,
      ],
    ];
    for (const [config, context, message] of cases) {
      await assert.rejects(connectionFromKubeconfig(config, context), { code: 'ERR_KUBECONFIG', message });
    }
    const proxied = await withCluster({ 'proxy-url': 'http://user:s3cret@p:3128' });
    assert.equal((await connectionFromKubeconfig(proxied)).proxyUrl, 'http://user:s3cret@p:3128');
    await assert.rejects(connectionFromKubeconfig(await withCluster({ 'proxy-url': 'socks5://u:s3cret@p' })), {
      code: 'ERR_PROXY_URL',
      message:
        'cluster "dev": proxy-url names a proxy of the kind "socks5": http and https are spoken (the method CONNECT)',
    });
    const insecure = await withCluster({ 'insecure-skip-tls-verify': true });
    assert.equal((await connectionFromKubeconfig(insecure)).insecureSkipTlsVerify, true);
  });
});

describe('inClusterConnection', () => {
  test("the pod's service account, and an error elsewhere", async () => {
    const env = { KUBERNETES_SERVICE_HOST: 'fd00::1', KUBERNETES_SERVICE_PORT: '443' };
    await writeFile(join(folder, 'ca.crt'), 'CA');
    assert.deepEqual(await inClusterConnection({ env, folder }), {
      server: 'https://[fd00::1]:443',
      caData: 'CA',
      credential: { kind: 'tokenFile', path: join(folder, 'token') },
    });
    await assert.rejects(inClusterConnection({ env: {}, folder }), {
      code: 'ERR_NOT_IN_CLUSTER',
      message: /not in a pod/,
    });
    await assert.rejects(inClusterConnection({ env, folder: join(folder, 'none') }), /the pod has no service account/);
  });
});
