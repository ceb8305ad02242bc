import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer as createHttpServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { text as textOf } from 'node:stream/consumers';
import { describe, test } from 'node:test';
import { ENDPOINT_SLICES, type KubeObject, NODES, PODS, SERVICE_ACCOUNTS, SERVICES } from '@asterism/machinery';
import type { ApiServerOptions } from '../compose/api-server-options.ts';
import { createApiServer } from '../api-server.ts';
import { createCertificateAuthority } from '../pki/certificate-authority.ts';
import { issueCertificate } from '../pki/issue-certificate.ts';
import { createMemoryStorage } from '../storage/memory-storage.ts';
import { startTestServer, type TestServer } from '../testing/index.ts';
import type { NetworkAddress } from './kubelet-client-options.ts';

const BELOW = '/api/v1/namespaces/default';

/** A server with a pod on a node, whose kubelet and whose container are this test's. */
async function serving(answer: (request: IncomingMessage, response: ServerResponse) => void): Promise<
  AsyncDisposable & {
    server: TestServer;
    asked: NetworkAddress[];
    get(path: string, method?: string): Promise<{ status: number; headers: Record<string, unknown>; text: string }>;
  }
> {
  const ca = await createCertificateAuthority({ commonName: 'kubelets' });
  const serverTls = await issueCertificate(ca, {
    commonName: 'n',
    ipAddresses: ['127.0.0.1'],
    usages: ['server'],
    days: 1,
  });
  const clientCertificate = await issueCertificate(ca, { commonName: 'api', usages: ['client'], days: 1 });
  const kubelet = createHttpsServer({ ...serverTls, ca: ca.cert, requestCert: true }, answer).listen(0, '127.0.0.1');
  const pod = createHttpServer(answer).listen(0, '127.0.0.1');
  await Promise.all([once(kubelet, 'listening'), once(pod, 'listening')]);
  const asked: NetworkAddress[] = [];
  const options: Partial<ApiServerOptions> = {
    controllers: false,
    kubelet: { ca: ca.cert, clientCertificate, preferredAddressTypes: ['InternalIP'] },
    podNetwork: (address) => {
      asked.push(address);
      return { host: '127.0.0.1', port: (pod.address() as AddressInfo).port };
    },
  };
  const server = await startTestServer(options);
  const { client } = server;
  const status = {
    addresses: [
      { type: 'Hostname', address: 'nowhere.invalid' },
      { type: 'InternalIP', address: '127.0.0.1' },
    ],
    daemonEndpoints: { kubeletEndpoint: { Port: (kubelet.address() as AddressInfo).port } },
  };
  await client.resource<KubeObject>(NODES).create({ metadata: { name: 'n' }, status });
  await client.resource(SERVICE_ACCOUNTS).create({ metadata: { namespace: 'default', name: 'default' } });
  await client.resource(PODS).create({
    metadata: { namespace: 'default', name: 'p' },
    spec: { nodeName: 'n', containers: [{ name: 'c', image: 'i', ports: [{ containerPort: 8080 }] }] },
  });
  await setPodIp(server, '10.244.0.7');
  return {
    server,
    asked,
    get: async (path, method = 'GET') => {
      const { status: code, headers, body } = await client.request({ method, path });
      return { status: code, headers, text: await textOf(body) };
    },
    [Symbol.asyncDispose]: async () => {
      await server.stop();
      for (const each of [kubelet, pod]) {
        each.close();
        each.closeAllConnections();
      }
    },
  };
}

async function setPodIp({ client }: TestServer, podIP: string): Promise<void> {
  const ref = { namespace: 'default', name: 'p' };
  const status = { podIP, podIPs: [{ ip: podIP }] };
  await client.resource(PODS).patch(ref, { type: 'merge', body: { status } }, { subresource: 'status' });
}

const echo = ({ method, url, headers }: IncomingMessage, response: ServerResponse): void => {
  const { authorization, cookie, host: _, ...rest } = headers;
  const remote = Object.keys(rest).filter((name) => name.startsWith('x-remote'));
  response.end([method, url, authorization ?? '', cookie ?? '', ...remote].join(' ').trim());
};

describe('connections that leave the server', () => {
  test('a log is asked of the kubelet of the pod’s node, in its own words', async () => {
    await using t = await serving(echo);
    const { status, headers, text } = await t.get(`${BELOW}/pods/p/log?follow=false&tailLines=3&timestamps=true&x=1`);
    assert.deepEqual(
      [status, headers['content-type'], text],
      [200, 'text/plain', 'GET /containerLogs/default/p/c?timestamps=true&tailLines=3'],
    );
    assert.equal((await t.get(`${BELOW}/pods/p/log?container=other`)).status, 400);
    assert.equal((await t.get(`${BELOW}/pods/q/log`)).status, 404);
    assert.equal((await t.get(`${BELOW}/pods/p/log`, 'PUT')).status, 405);
  });

  for (const [code, expected, reason] of [
    [400, 400, 'BadRequest'],
    [404, 404, 'NotFound'],
    [500, 500, 'InternalError'],
  ] as const) {
    test(`a kubelet’s refusal with ${code} is a Status`, async () => {
      await using t = await serving((_, response) => void response.writeHead(code).end('previous container not found'));
      const { status, text } = await t.get(`${BELOW}/pods/p/log`);
      const told = JSON.parse(text) as { reason: string; message: string };
      assert.deepEqual([status, told.reason], [expected, reason]);
      assert.match(told.message, /previous container not found/);
    });
  }

  test('exec without an Upgrade is refused, when its pod has been looked for', async () => {
    await using t = await serving(echo);
    const refused = await t.get(`${BELOW}/pods/p/exec?command=ls&stdout=true`, 'POST');
    assert.deepEqual([refused.status, /Upgrade request required/.test(refused.text)], [400, true]);
    assert.equal((await t.get(`${BELOW}/pods/q/exec`, 'POST')).status, 404);
  });

  test('nodes/proxy reaches the kubelet alone', async () => {
    await using t = await serving(echo);
    assert.equal((await t.get('/api/v1/nodes/n/proxy/stats/summary?only=cpu')).text, 'GET /stats/summary?only=cpu');
    assert.equal((await t.get('/api/v1/nodes/n/proxy')).text, 'GET /');
    for (const name of ['n:22', 'http:n:', 'ftp:n:', 'a:b:c:d']) {
      assert.equal((await t.get(`/api/v1/nodes/${name}/proxy/`)).status, 400, name);
    }
    assert.equal((await t.get('/api/v1/nodes/m/proxy/')).status, 404);
  });

  test('pods/proxy and services/proxy reach pods where the pod network says', async () => {
    await using t = await serving(echo);
    assert.equal((await t.get(`${BELOW}/pods/p/proxy/a/b?c=d`)).text, 'GET /a/b?c=d');
    assert.equal((await t.get(`${BELOW}/pods/p:9090/proxy/`, 'DELETE')).text, 'DELETE /');
    const { client } = t.server;
    const metadata = { namespace: 'default', name: 's' };
    await client.resource(SERVICES).create({ metadata, spec: { ports: [{ name: 'web', port: 80 }] } });
    assert.match((await t.get(`${BELOW}/services/s:web/proxy/`)).text, /no endpoints available for service \\"s\\"/);
    await client.resource(ENDPOINT_SLICES).create({
      metadata: { ...metadata, labels: { 'kubernetes.io/service-name': 's' } },
      addressType: 'IPv4',
      endpoints: [{ addresses: ['10.244.0.8'] }],
      ports: [{ name: 'web', port: 8081 }],
    });
    assert.equal((await t.get(`${BELOW}/services/s:web/proxy/x`)).text, 'GET /x');
    assert.equal((await t.get(`${BELOW}/services/s:80/proxy/x`)).text, 'GET /x');
    assert.match((await t.get(`${BELOW}/services/s:81/proxy/x`)).text, /no service port 81 found/);
    assert.deepEqual(t.asked, [
      { host: '10.244.0.7', port: 8080 },
      { host: '10.244.0.7', port: 9090 },
      { host: '10.244.0.8', port: 8081 },
      { host: '10.244.0.8', port: 8081 },
    ]);
  });

  test('what a pod says is its address leads nowhere but to pods', async () => {
    await using t = await serving(echo);
    for (const address of ['127.0.0.1', '169.254.169.254', '::1', 'fe80::1']) {
      await setPodIp(t.server, address);
      const { status, text } = await t.get(`${BELOW}/pods/p/proxy/`);
      assert.deepEqual([status, /address not allowed/.test(text)], [400, true], address);
    }
    assert.equal(t.asked.length, 0);
  });

  test('a redirect of what is behind stays below the proxy', async () => {
    await using t = await serving((_, response) => void response.writeHead(302, { location: '/login' }).end());
    const { status, headers } = await t.get(`${BELOW}/pods/p/proxy/a`);
    assert.deepEqual([status, headers['location']], [302, `${BELOW}/pods/p/proxy/login`]);
  });

  test('one that ends without an answer is a 503', async () => {
    await using t = await serving((request) => void request.socket.destroy());
    assert.equal((await t.get('/api/v1/nodes/n/proxy/')).status, 503);
    assert.equal((await t.get(`${BELOW}/pods/p/proxy/`)).status, 503);
  });

  test('a kubelet without an authority to know it by is refused as an option', () => {
    const storage = createMemoryStorage();
    assert.throws(() => createApiServer({ storage, kubelet: {} }), /needs its `ca`/);
  });
});
