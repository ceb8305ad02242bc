import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { type AddressInfo, connect, createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, before, describe, test } from 'node:test';
import { type ApiServer, type ApiServerOptions, createApiServer } from '@asterism/apiserver';
import {
  type Client,
  type Connection,
  createClient,
  createTransport,
  type HttpTransport,
  systemClock,
} from '@asterism/client';
import {
  API_SERVICES,
  CLUSTER_ROLE_BINDINGS,
  CLUSTER_ROLES,
  CUSTOM_RESOURCE_DEFINITIONS,
  type KubeObject,
  NODES,
  PODS,
  SERVICE_ACCOUNTS,
} from '@asterism/machinery';
import { type Kubelet, startKubelet } from '@asterism/sim';
import { ADMIN, ClusterPki, type User } from '../../cluster/cluster-pki.ts';
import { CONTROL_PLANE_BINARIES, ControlPlane } from '../../cluster/control-plane.ts';
import { writeKubeconfig } from '../../cluster/kubeconfig-file.ts';
import { Kubectl } from '../../cluster/kubectl.ts';
import { servedAs } from '../../cluster/own-api-server.ts';
import { requiredBinary, unlessThere } from '../../cluster/real-kubernetes.ts';
import { RunFolder } from '../../cluster/run-folder.ts';
import { until } from '../../cluster/until.ts';
import { eventually } from '../../demo/aster-up.ts';
import { ProcessBackend } from '../../cluster/process-backend.ts';

const RBAC = 'rbac.authorization.k8s.io';
const GROUP = 'gadgets.example.com';
const VERSIONS = ['1.20', '1.36'] as const;

const DEFINITION = {
  metadata: { name: `gadgets.${GROUP}` },
  spec: {
    group: GROUP,
    scope: 'Namespaced',
    names: { plural: 'gadgets', singular: 'gadget', kind: 'Gadget', shortNames: ['gd'] },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: {
          openAPIV3Schema: {
            type: 'object',
            description: 'A thing that does something.',
            properties: {
              spec: { type: 'object', properties: { size: { type: 'integer', description: 'How large it is.' } } },
            },
          },
        },
        additionalPrinterColumns: [{ name: 'Size', type: 'integer', jsonPath: '.spec.size' }],
      },
    ],
  },
} as KubeObject;

/** Our API server with the keys of a control plane, and ways to be somebody there. */
class Ours implements AsyncDisposable {
  readonly client: Client;
  readonly #run: RunFolder;
  readonly #pki: ClusterPki;
  readonly #server: ApiServer;
  readonly #url: string;
  readonly #transport: HttpTransport;

  private constructor(run: RunFolder, pki: ClusterPki, server: ApiServer, connection: Connection) {
    this.#run = run;
    this.#pki = pki;
    this.#server = server;
    this.#url = connection.server;
    this.#transport = createTransport(connection);
    this.client = createClient({ transport: this.#transport, userAgent: 'test' });
  }

  static async start(run: RunFolder, pki: ClusterPki, options: Partial<ApiServerOptions>): Promise<Ours> {
    const server = createApiServer({
      ...(await servedAs(pki)),
      ...options,
    });
    const { url } = await server.start();
    const credential = { kind: 'certificate', ...(await pki.issueClient('our-admin', ADMIN)) } as const;
    return new Ours(run, pki, server, { server: url, caData: pki.ca.cert, credential });
  }

  async kubectl(user: User, version: string): Promise<Kubectl> {
    const pair = await this.#pki.issueClient(`ours-${user.commonName}`, user);
    const credential = { kind: 'certificate', ...pair } as const;
    const connection = { server: this.#url, caData: this.#pki.ca.cert, credential };
    const file = join(this.#run.path, `${user.commonName}-${version}.kubeconfig`);
    const kubeconfig = await writeKubeconfig(file, connection);
    return new Kubectl(requiredBinary(`kubectl-${version}`), kubeconfig, await this.#run.folder(`home-${version}`));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#transport.close();
    await this.#server.stop();
  }
}

async function allow(client: Client, group: string): Promise<void> {
  const rules = [
    { apiGroups: [GROUP], resources: ['gadgets'], verbs: ['*'] },
    // kubectl looks there for what a server that does not validate fields itself would refuse.
    { apiGroups: ['apiextensions.k8s.io'], resources: ['customresourcedefinitions'], verbs: ['list'] },
  ];
  await client.resource(CLUSTER_ROLES).create({ metadata: { name: group }, rules });
  await client.resource(CLUSTER_ROLE_BINDINGS).create({
    metadata: { name: group },
    roleRef: { apiGroup: RBAC, kind: 'ClusterRole', name: group },
    subjects: [{ apiGroup: RBAC, kind: 'Group', name: group }],
  });
}

/** Resolves when OpenAPI describes Gadgets: a moment after they are served, and nothing tells of it. */
async function described(client: Client): Promise<void> {
  await eventually(async () => {
    const { definitions } = (await client.getJson('/openapi/v2')) as { definitions: object };
    assert.ok('com.example.gadgets.v1.Gadget' in definitions, 'OpenAPI does not describe Gadgets');
  }, 30_000);
}

const isTrue =
  (type: string) =>
  ({ status }: KubeObject): boolean => {
    // In the first instant null, as Go writes a list that is empty.
    const { conditions } = (status ?? {}) as { conditions?: { type: string; status: string }[] | null };
    return (conditions ?? []).some((condition) => condition.type === type && condition.status === 'True');
  };

const skip = unlessThere(...CONTROL_PLANE_BINARIES, 'kubectl-1.36', 'kubectl-1.20');

describe('a real kube-apiserver 1.20 that serves a group behind ours', { skip, timeout: 120_000 }, () => {
  let run: RunFolder;
  let real: ControlPlane;
  let ours: Ours;

  before(async () => {
    run = await RunFolder.open();
    real = await ControlPlane.start(run, { name: 'real', controllers: 'none' });
    const [cert, key] = await Promise.all(
      ['front-proxy-client.crt', 'front-proxy-client.key'].map((file) => readFile(real.pki.file(file), 'utf8')),
    );
    const { hostname, port } = new URL(real.server);
    ours = await Ours.start(run, real.pki, {
      aggregation: {
        proxyClient: { cert: cert!, key: key! },
        resolve: ({ name }) => (name === 'kubernetes' ? { host: hostname, port: Number(port) } : undefined),
      },
    });
    await real.client.resource<KubeObject>(CUSTOM_RESOURCE_DEFINITIONS).create(DEFINITION);
    await until(real.client, CUSTOM_RESOURCE_DEFINITIONS, { name: `gadgets.${GROUP}` }, isTrue('Established'));
    await described(real.client);
    await allow(real.client, 'makers');
    await allow(ours.client, 'makers');
    await allow(ours.client, 'guests');
    await ours.client.resource(API_SERVICES).create({
      metadata: { name: `v1.${GROUP}` },
      spec: {
        group: GROUP,
        version: 'v1',
        groupPriorityMinimum: 1000,
        versionPriority: 15,
        // As which its certificate names it.
        service: { namespace: 'default', name: 'kubernetes' },
        caBundle: Buffer.from(real.pki.ca.cert).toString('base64'),
      },
    });
    await until(ours.client, API_SERVICES, { name: `v1.${GROUP}` }, isTrue('Available'));
  });

  after(async () => {
    await ours?.[Symbol.asyncDispose]();
    await real?.[Symbol.asyncDispose]();
    await run?.[Symbol.asyncDispose]();
  });

  for (const version of VERSIONS) {
    test(`kubectl ${version}: found, created, applied, watched, explained, deleted`, async () => {
      const kubectl = await ours.kubectl({ commonName: 'rita', organizations: ['makers'] }, version);
      assert.match(await kubectl.run(['api-resources', `--api-group=${GROUP}`]), /gadgets\s+gd\s.*true\s+Gadget/);
      const watching = kubectl.spawn(['get', 'gadgets', '--watch', '--output-watch-events']);
      const lines = createInterface({ input: watching.stdout! })[Symbol.asyncIterator]();
      const gadget = (size: number): string =>
        JSON.stringify({ apiVersion: `${GROUP}/v1`, kind: 'Gadget', metadata: { name: 'g' }, spec: { size } });
      assert.match(await kubectl.run(['create', '--save-config', '-f', '-'], { stdin: gadget(1) }), /created/);
      assert.match(await kubectl.run(['apply', '-f', '-'], { stdin: gadget(2) }), /configured/);
      assert.match(await kubectl.run(['get', 'gd']), /^NAME +SIZE\ng +2$/m);
      assert.match(await kubectl.run(['explain', 'gadgets.spec.size']), /How large it is\./);
      assert.match(await kubectl.run(['delete', 'gadget', 'g']), /deleted/);
      const seen: string[] = [];
      while (!seen.includes('DELETED')) seen.push(((await lines.next()).value as string).split(/\s+/)[0]!);
      assert.ok(seen.includes('ADDED') && seen.includes('MODIFIED'), seen.join(' '));
      watching.kill();
      await once(watching, 'close');
    });

    test(`kubectl ${version}: who has no rights there is refused there, who has none here is refused here`, async () => {
      const gina = await ours.kubectl({ commonName: 'gina', organizations: ['guests'] }, version);
      const there = await gina.try(['get', 'gadgets']);
      assert.match(there.stderr, /User "gina" cannot list resource "gadgets" in API group "gadgets.example.com"/);
      const otto = await ours.kubectl({ commonName: 'otto' }, version);
      const here = await otto.try(['get', 'gadgets', '--as=rita', '--as-group=makers']);
      assert.match(here.stderr, /User "otto" cannot impersonate/);
    });
  }

  test('while it is away its group is, and no other; and it comes back', async () => {
    const kubectl = await ours.kubectl({ commonName: 'boss', organizations: ['system:masters'] }, '1.36');
    await real.apiServer.kill();
    const refused = await kubectl.try(['get', '--raw', `/apis/${GROUP}/v1/gadgets`]);
    assert.match(refused.stderr, /ServiceUnavailable/);
    await until(ours.client, API_SERVICES, { name: `v1.${GROUP}` }, (object) => !isTrue('Available')(object));
    assert.match(await kubectl.run(['get', 'namespaces']), /default/);
    await real.startAgain();
    await until(ours.client, API_SERVICES, { name: `v1.${GROUP}` }, isTrue('Available'));
    assert.equal(await kubectl.run(['get', 'gadgets', '-o', 'name']), '');
  });
});

describe('our API server before a kubelet’s endpoint', { skip, timeout: 120_000 }, () => {
  let run: RunFolder;
  let ours: Ours;
  let kubelet: Kubelet;
  let backend: ProcessBackend;
  let echo: Server;

  before(async () => {
    run = await RunFolder.open();
    const pki = await ClusterPki.create(await run.folder('pki'), []);
    backend = new ProcessBackend(await run.folder('containers'));
    kubelet = await startKubelet({
      nodeName: 'node-1',
      backendOf: () => backend,
      backends: () => [backend],
      pods: () => [],
      listen: { host: '127.0.0.1', port: 0 },
      tls: await pki.issue('node-1', {
        commonName: 'system:node:node-1',
        ipAddresses: ['127.0.0.1'],
        usages: ['server'],
      }),
      clientCa: pki.ca.cert,
      clock: systemClock,
    });
    const clientCertificate = await pki.issueClient('our-kubelet-client', { commonName: 'kube-apiserver' });
    ours = await Ours.start(run, pki, { kubelet: { clientCertificate, ca: pki.ca.cert } });
    const status = {
      addresses: [{ type: 'InternalIP', address: '127.0.0.1' }],
      daemonEndpoints: { kubeletEndpoint: { Port: kubelet.port } },
    };
    await ours.client
      .resource<KubeObject>(NODES)
      .create({ apiVersion: 'v1', kind: 'Node', metadata: { name: 'node-1' }, status } as KubeObject);
    await ours.client.resource(SERVICE_ACCOUNTS).create({ metadata: { namespace: 'default', name: 'default' } });
    await ours.client.resource<KubeObject>(PODS).create({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { namespace: 'default', name: 'web' },
      spec: {
        nodeName: 'node-1',
        automountServiceAccountToken: false,
        containers: [{ name: 'app', image: 'app', ports: [{ containerPort: 80 }] }],
      },
    } as KubeObject);
    const running = { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] };
    const web = { namespace: 'default', name: 'web' };
    await ours.client
      .resource(PODS)
      .patch(web, { type: 'merge', body: { status: running } }, { subresource: 'status' });
    echo = createServer({ allowHalfOpen: true }, (socket) => {
      socket.on('error', () => {});
      socket.pipe(socket);
    }).listen(0, '127.0.0.1');
    await once(echo, 'listening');
    backend.ports.set(80, (echo.address() as AddressInfo).port);
  });

  after(async () => {
    echo?.close();
    await ours?.[Symbol.asyncDispose]();
    await kubelet?.stop();
    await run?.[Symbol.asyncDispose]();
  });

  for (const version of VERSIONS) {
    describe(`kubectl ${version}`, () => {
      let kubectl: Kubectl;

      before(async () => {
        kubectl = await ours.kubectl({ commonName: 'boss', organizations: ['system:masters'] }, version);
      });

      test('exec: output, errors, input and the exit code', async () => {
        const script = 'read line; echo "out $line"; echo err >&2; exit 7';
        const result = await kubectl.try(['exec', '-i', 'web', '--', 'sh', '-c', script], { stdin: 'hello\n' });
        assert.deepEqual([result.code, result.stdout], [7, 'out hello\n'], result.stderr);
        assert.match(result.stderr, /^err\ncommand terminated with exit code 7\n$/);
      });

      test('logs: a tail, and followed', async () => {
        for (const line of ['one', 'two', 'three']) backend.log(line);
        assert.equal(await kubectl.run(['logs', 'web', '--tail=2']), 'two\nthree\n');
        const following = kubectl.spawn(['logs', '-f', 'web', '--tail=1']);
        assert.equal(String((await once(following.stdout!, 'data'))[0]), 'three\n');
        backend.log('four');
        assert.equal(String((await once(following.stdout!, 'data'))[0]), 'four\n');
        const left = once(backend.events, 'left');
        following.kill('SIGKILL');
        await left;
      });

      test('cp there and back', async () => {
        const sent = randomBytes(3_000_000);
        const [here, again] = [join(run.path, `sent-${version}`), join(run.path, `again-${version}`)];
        await writeFile(here, sent);
        const there = join(run.path, `there-${version}`);
        await kubectl.run(['cp', here, `web:${there}`]);
        await kubectl.run(['cp', `web:${there}`, again]);
        assert.ok((await readFile(again)).equals(sent));
      });

      test('port-forward', async () => {
        const forwarding = kubectl.spawn(['port-forward', 'web', ':80', '--address=127.0.0.1']);
        const [line] = (await once(forwarding.stdout!, 'data')) as [Buffer];
        const port = Number(/127\.0\.0\.1:(\d+)/.exec(String(line))?.[1]);
        const socket = connect(port, '127.0.0.1');
        socket.write('to and fro');
        assert.equal(String((await once(socket, 'data'))[0]), 'to and fro');
        const closed = once(socket, 'close');
        socket.destroy();
        await closed;
        forwarding.kill();
        await once(forwarding, 'close');
      });

      test('what the kubelet itself answers, by nodes/proxy', async () => {
        assert.equal(await kubectl.run(['get', '--raw', '/api/v1/nodes/node-1/proxy/healthz']), 'ok');
        const elsewhere = await kubectl.try(['get', '--raw', '/api/v1/nodes/node-1:1/proxy/healthz']);
        assert.match(elsewhere.stderr, /invalid node request/);
      });
    });
  }
});
