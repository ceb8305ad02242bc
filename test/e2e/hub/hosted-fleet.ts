import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Agent, type AgentOptions, runAgent } from '@asterism/agent';
import { startTestServer, type TestServer } from '@asterism/apiserver/testing';
import { type Client, type Connection, createClient, createTransport, readBody } from '@asterism/client';
import { AGENT_SERVICE_ACCOUNT, HUB_LEASE, memberProxyPath, SYSTEM_NAMESPACE } from '@asterism/fleet/api';
import { createBootstrapToken, hubManifests, memberManifests } from '@asterism/fleet/join';
import { LEASES, type ResourceType } from '@asterism/machinery';
import { silentLogger } from '@asterism/runtime';
import { asterService } from '../../cluster/aster.ts';
import { ControlPlane } from '../../cluster/control-plane.ts';
import type { Daemon } from '../../cluster/daemon.ts';
import { LAB_NETWORK, Lab } from '../../cluster/lab.ts';
import { writeKubeconfig } from '../../cluster/kubeconfig-file.ts';
import { Kubectl } from '../../cluster/kubectl.ts';
import { requiredBinary } from '../../cluster/real-kubernetes.ts';
import { RunFolder } from '../../cluster/run-folder.ts';
import { eventually } from '../../demo/aster-up.ts';

const ACCOUNT = { namespace: SYSTEM_NAMESPACE, name: 'asterism-hub-host' };
const LEASE = { namespace: SYSTEM_NAMESPACE, name: HUB_LEASE };

export interface HostedFleetOptions {
  templates: 'host' | 'embedded';
  controllers: readonly string[];
  /** In a network of its own, where it and the hubs have an address that is not loopback. */
  withinLab?: boolean;
  /** Further flags of the kube-apiserver. */
  apiServer?: readonly string[];
}

/** A real control plane, hub processes on it under an account of least rights, and members that are test servers. */
export class HostedFleet implements AsyncDisposable {
  readonly run: RunFolder;
  readonly host: ControlPlane;
  readonly kubectl: Kubectl;
  readonly #account: string;
  readonly #lab: Lab | undefined;
  readonly #parts: AsyncDisposableStack;

  private constructor(
    run: RunFolder,
    host: ControlPlane,
    more: { kubectl: Kubectl; account: string; lab: Lab | undefined; parts: AsyncDisposableStack },
  ) {
    this.run = run;
    this.host = host;
    this.kubectl = more.kubectl;
    this.#account = more.account;
    this.#lab = more.lab;
    this.#parts = more.parts;
  }

  static async start({
    templates,
    controllers,
    withinLab = false,
    apiServer = [],
  }: HostedFleetOptions): Promise<HostedFleet> {
    await using parts = new AsyncDisposableStack();
    const run = parts.use(await RunFolder.open());
    const lab = withinLab ? parts.use(await Lab.start(run, 'lab')) : undefined;
    const host = parts.use(await ControlPlane.start(run, { name: 'host', controllers, lab, flags: { apiServer } }));
    const kubectl = new Kubectl(requiredBinary('kubectl-1.36'), host.kubeconfig, await run.folder('kubectl'));
    const manifests = { apiVersion: 'v1', kind: 'List', items: hubManifests({ templates, account: ACCOUNT }) };
    await kubectl.run(['apply', '-f', '-'], { stdin: JSON.stringify(manifests) });
    const token = await kubectl.run(['create', 'token', '-n', ACCOUNT.namespace, ACCOUNT.name, '--duration=2h']);
    const account = await writeKubeconfig(join(host.folder, 'hub.kubeconfig'), {
      ...host.connection,
      server: host.server,
      credential: { kind: 'token', token: token.trim() },
    });
    return new HostedFleet(run, host, { kubectl, account, lab, parts: parts.move() });
  }

  /** `aster hub --kubeconfig`, serving. */
  async startHub(name: string, ...flags: string[]): Promise<Daemon> {
    const folder = await this.run.folder(name);
    const listen = `${this.#lab ? LAB_NETWORK.address : '127.0.0.1'}:0`;
    const data = ['--data-dir', join(folder, 'data'), '--listen', listen];
    const args = ['hub', '--kubeconfig', this.#account, ...data, ...flags];
    const hub = this.#parts.use(
      asterService({ name, args, log: join(folder, 'log'), within: this.#lab?.command.bind(this.#lab) }),
    );
    await hub.start();
    await hub.printed(/^serving https:/m, AbortSignal.timeout(30_000));
    return hub;
  }

  /** A member that has joined, in Pull, through the host alone. */
  async join(clusterName: string, options: Pick<AgentOptions, 'destinations'> = {}): Promise<TestServer> {
    const member = this.#parts.use(await startTestServer());
    for (const object of memberManifests({ syncMode: 'Pull' })) {
      const found = await member.client.discovery.find(object.kind ?? '');
      await member.client.resource(found as ResourceType).apply(object, { fieldManager: 'test', force: true });
    }
    const { server, caData = '' } = this.host.connection;
    const { token } = await createBootstrapToken(this.host.client, { autoApprove: true, cluster: clusterName });
    const agent: Agent = this.#parts.use(
      runAgent({
        clusterName,
        syncMode: 'Pull',
        hub: { server, ca: caData, token },
        member: member.connectionAs({
          username: `system:serviceaccount:${SYSTEM_NAMESPACE}:${AGENT_SERVICE_ACCOUNT}`,
          groups: ['system:serviceaccounts', 'system:authenticated'],
        }),
        logger: silentLogger,
        ...options,
      }),
    );
    await agent.ready;
    return member;
  }

  /** A person of the host, at the address of one hub process. */
  async callerOf(hub: Daemon, connection = this.host.connection): Promise<Client> {
    const server = /^serving (\S+)$/m.exec(hub.stdout)?.[1] ?? '';
    const caData = await readFile(join(this.run.path, hub.name, 'data', 'pki', 'ca.crt'), 'utf8');
    return this.client({ ...connection, server, caData });
  }

  client(connection: Connection): Client {
    const transport = this.#parts.use(createTransport(connection));
    return createClient({ transport, userAgent: 'test' });
  }

  async leader(): Promise<string | undefined> {
    return (await this.host.client.resource(LEASES).get(LEASE)).spec?.holderIdentity;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#parts.disposeAsync();
  }
}

/** The member's version by the way of the host's aggregator, the hub and the tunnel. */
export async function memberVersion(client: Client, clusterName: string): Promise<string> {
  const path = `${memberProxyPath(clusterName)}/version`;
  const response = await client.request({ method: 'GET', path, signal: AbortSignal.timeout(5_000) });
  const body = (await readBody(response.body, path)).toString();
  assert.equal(response.status, 200, body);
  return (JSON.parse(body) as { gitVersion: string }).gitVersion;
}

/** Resolves when the member answers by that way. */
export async function reachable(client: Client, clusterName: string): Promise<void> {
  await eventually(async () => void (await memberVersion(client, clusterName)), 20_000);
}
