import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import type { Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { createCertificateAuthority, type KeyPair } from '@asterism/apiserver';
import { startTestServer, type TestServer } from '@asterism/apiserver/testing';
import { CLUSTER_ROLE_BINDINGS } from '@asterism/machinery';
import { connectionOf } from '../../cluster/connection-of.ts';
import { EmbeddedHub } from '../../cluster/embedded-hub.ts';
import { writeKubeconfig } from '../../cluster/kubeconfig-file.ts';
import { Kubectl } from '../../cluster/kubectl.ts';
import { requiredBinary, unlessThere } from '../../cluster/real-kubernetes.ts';
import { RunFolder } from '../../cluster/run-folder.ts';
import { CLIENT, logIn, startProvider } from './openid-provider.ts';

describe('people of an OpenID provider use kubectl', { skip: unlessThere('kubectl-1.36') }, () => {
  let run: RunFolder;
  let ca: KeyPair;
  let provider: Server;
  let issuerUrl: string;
  let server: TestServer;
  let idToken: string;

  before(async () => {
    run = await RunFolder.open();
    ca = await createCertificateAuthority({ commonName: 'provider-ca' });
    provider = await startProvider(ca);
    issuerUrl = `https://127.0.0.1:${(provider.address() as AddressInfo).port}`;
    server = await startTestServer({
      oidc: [
        {
          issuerUrl,
          audiences: [CLIENT.client_id],
          ca: ca.cert,
          usernameClaim: 'email',
          usernamePrefix: 'oidc:',
          groupsClaim: 'groups',
          groupsPrefix: 'oidc:',
        },
      ],
    });
    idToken = await logIn(issuerUrl, ca.cert, 'carol');
  });

  after(async () => {
    provider?.closeAllConnections();
    provider?.close();
    await server?.stop();
    await run[Symbol.asyncDispose]();
  });

  async function kubectlWith(token: string): Promise<Kubectl> {
    const path = join(run.path, `${randomBytes(4).toString('hex')}.kubeconfig`);
    const caPath = join(run.path, 'provider-ca.crt');
    await writeFile(caPath, ca.cert);
    const provided = {
      'idp-issuer-url': issuerUrl,
      'idp-certificate-authority': caPath,
      'client-id': CLIENT.client_id,
      'client-secret': CLIENT.client_secret,
      'id-token': token,
    };
    const config = {
      apiVersion: 'v1',
      kind: 'Config',
      clusters: [
        {
          name: 'c',
          cluster: { server: server.url, 'certificate-authority-data': Buffer.from(server.ca.cert).toString('base64') },
        },
      ],
      users: [{ name: 'u', user: { 'auth-provider': { name: 'oidc', config: provided } } }],
      contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
      'current-context': 'x',
    };
    await writeFile(path, JSON.stringify(config), { mode: 0o600 });
    return new Kubectl(requiredBinary('kubectl-1.36'), path, await run.folder('home'));
  }

  test('an ID token of the provider names the user and the groups, and RBAC decides', async () => {
    const kubectl = await kubectlWith(idToken);
    const who = JSON.parse(await kubectl.run(['auth', 'whoami', '-o', 'json'])) as {
      status: { userInfo: { username: string; groups: string[]; extra?: Record<string, string[]> } };
    };
    assert.equal(who.status.userInfo.username, 'oidc:carol@example.com');
    assert.deepEqual(who.status.userInfo.groups, ['oidc:devs', 'system:authenticated']);
    const refused = await kubectl.try(['get', 'namespaces']);
    assert.match(refused.stderr, /User "oidc:carol@example.com" cannot list resource "namespaces"/);
    const apiGroup = 'rbac.authorization.k8s.io';
    await server.client.resource(CLUSTER_ROLE_BINDINGS).create({
      metadata: { name: 'devs' },
      subjects: [{ apiGroup, kind: 'Group', name: 'oidc:devs' }],
      roleRef: { apiGroup, kind: 'ClusterRole', name: 'cluster-admin' },
    });
    assert.match(await kubectl.run(['get', 'namespaces', '-o', 'name']), /^namespace\/default$/m);
  });

  test('a token with another signature is nobody’s', async () => {
    const [header, payload, signature = ''] = idToken.split('.');
    const other = `${signature.startsWith('A') ? 'B' : 'A'}${signature.slice(1)}`;
    const { code, stderr } = await (await kubectlWith(`${header}.${payload}.${other}`)).try(['get', 'namespaces']);
    assert.equal(code, 1);
    assert.match(stderr, /You must be logged in to the server|Unauthorized/);
  });

  test('they are known to a hub that is told of the provider by flags', async () => {
    const caFile = join(run.path, 'ca.crt');
    await writeFile(caFile, ca.cert);
    await using hub = await EmbeddedHub.start(run, [
      `--oidc-issuer-url=${issuerUrl}`,
      `--oidc-client-id=${CLIENT.client_id}`,
      `--oidc-ca-file=${caFile}`,
      '--oidc-username-claim=email',
      '--oidc-username-prefix=-',
      '--oidc-groups-claim=groups',
      '--oidc-groups-prefix=staff:',
      '--oidc-required-claim=sub=carol',
      `--oidc-required-claim=iss=${issuerUrl}`,
    ]);
    const connection = await connectionOf(hub.kubeconfig);
    const kubectlAs = async (token: string): Promise<Kubectl> => {
      const file = join(run.path, `${randomBytes(4).toString('hex')}.kubeconfig`);
      await writeKubeconfig(file, { ...connection, credential: { kind: 'token', token } });
      return new Kubectl(requiredBinary('kubectl-1.36'), file, await run.folder('home'));
    };
    const carol = await kubectlAs(idToken);
    const who = JSON.parse(await carol.run(['auth', 'whoami', '-o', 'json'])) as {
      status: { userInfo: { username: string; groups: string[] } };
    };
    assert.equal(who.status.userInfo.username, 'carol@example.com');
    assert.deepEqual(who.status.userInfo.groups, ['staff:devs', 'system:authenticated']);
    const refused = await carol.try(['get', 'clusters.asterism.dev']);
    assert.match(refused.stderr, /User "carol@example.com" cannot list resource "clusters"/);
    const admin = new Kubectl(requiredBinary('kubectl-1.36'), hub.kubeconfig, await run.folder('home'));
    await admin.run(['create', 'clusterrole', 'fleet', '--verb=get,list', '--resource=clusters.asterism.dev']);
    await admin.run(['create', 'clusterrolebinding', 'fleet', '--clusterrole=fleet', '--group=staff:devs']);
    assert.match((await carol.try(['get', 'clusters.asterism.dev'])).stderr, /No resources found/);
    const dave = await kubectlAs(await logIn(issuerUrl, ca.cert, 'dave'));
    assert.match((await dave.try(['get', 'clusters.asterism.dev'])).stderr, /Unauthorized|must be logged in/);
  });

  test('with the provider away, known keys are good and other users are not delayed', async () => {
    provider.closeAllConnections();
    await new Promise((resolve) => provider.close(resolve));
    assert.match(await (await kubectlWith(idToken)).run(['auth', 'whoami']), /oidc:carol@example.com/);
    await server.client.getJson('/version');
  });
});
