import type { UserInfo } from '@asterism/apiserver';
import { startTestServer, type TestServer, untilObject } from '@asterism/apiserver/testing';
import { type Client, createClient, systemClock, type Transport, wallNow } from '@asterism/client';
import { type KubeObject, LEASES, NAMESPACES, SECRETS } from '@asterism/machinery';
import { createManager, silentLogger } from '@asterism/runtime';
import { createTunnelHub } from '@asterism/tunnel';
import {
  AUTO_APPROVE_GROUP,
  agentSubject,
  CLUSTERS,
  CREDENTIAL_SECRET,
  clusterNamespace,
  customResourceDefinitions,
  REGISTER_GROUP,
} from '../../api/index.ts';
import { Templates } from '../../template/templates.ts';
import { addDelivery, addPushExecutor } from '../../deliver/index.ts';
import { addPlacement } from '../../place/index.ts';
import { cluster } from '../../place/testing/build.ts';
import { addCallers, addMemberCallers, createCallersDirectory } from '../../reach/index.ts';
import { hubManifests } from '../access/hub-manifests.ts';
import { createAccessController } from '../access/access-controller.ts';
import { createConfigurationController } from '../configuration/configuration-controller.ts';
import { createClusterConnections } from '../../reach/cluster-connections.ts';
import { privateKeyPin } from '../connect/public-key-pin.ts';
import { createClusterProvider } from '../connect/cluster-provider.ts';
import { addHealth } from '../health/health-controller.ts';
import { beat } from '../health/heartbeat.ts';
import { addLeaving } from '../leave/add-leaving.ts';
import { createAgentKey } from '../registration/create-certificate-request.ts';
import { createRegistrationCleaner } from '../registration/registration-cleaner.ts';
import { createRegistrationController } from '../registration/registration-controller.ts';
import { createRenewalController } from '../renewal/renewal-controller.ts';
import { awaitCertificate, registrationObjects, submitRegistration } from '../registration/request-registration.ts';

const ACCOUNT = { namespace: 'asterism-system', name: 'asterism-hub' };

/** Whom the hub comes as, where it is the service account of {@link hubManifests}. */
export const HUB: UserInfo = {
  username: `system:serviceaccount:${ACCOUNT.namespace}:${ACCOUNT.name}`,
  groups: ['system:serviceaccounts', `system:serviceaccounts:${ACCOUNT.namespace}`, 'system:authenticated'],
};

/** The controllers of a hub that has no more rights than {@link hubManifests} give it, and members that join it. */
export class JoinedFleet implements AsyncDisposable {
  readonly host: TestServer;
  /** Where templates are. */
  readonly templates: TestServer;
  readonly member: TestServer;
  /** As the hub's account. */
  readonly hub: Client;
  /** What the hub asked for and was refused, as `GET /path`. */
  readonly forbidden: string[] = [];
  readonly #parts: AsyncDisposableStack;

  static async start(form: 'host' | 'embedded'): Promise<JoinedFleet> {
    await using parts = new AsyncDisposableStack();
    const host = parts.use(await startTestServer({ crds: await customResourceDefinitions() }));
    const member = parts.use(await startTestServer());
    const templates = form === 'host' ? host : parts.use(await startTestServer());
    for (const object of hubManifests({ templates: form, account: ACCOUNT })) {
      const type = await host.client.discovery.typeFor(object);
      await host.client.resource(type).apply(object, { fieldManager: 'installer', force: true });
    }
    const fleet = new JoinedFleet({ host, templates, member }, parts.move());
    await fleet.#run();
    return fleet;
  }

  private constructor(servers: Record<'host' | 'templates' | 'member', TestServer>, parts: AsyncDisposableStack) {
    this.host = servers.host;
    this.templates = servers.templates;
    this.member = servers.member;
    this.#parts = parts;
    this.hub = this.#noting(this.host.clientAs(HUB));
  }

  async #run(): Promise<void> {
    const tunnels = createTunnelHub();
    const connections = createClusterConnections(tunnels);
    const manager = createManager({
      client: this.hub,
      providers: [createClusterProvider(connections)],
      logger: silentLogger,
    });
    const elsewhere = this.templates === this.host ? undefined : this.templates.client;
    const templates = new Templates(manager.local, elsewhere && manager.addCluster('templates', elsewhere));
    const stopping = new AbortController();
    connections.follow(manager.local.cache, stopping.signal);
    const callers = createCallersDirectory(systemClock);
    callers.follow(manager.local.cache, {
      client: manager.local.client,
      logger: silentLogger,
      signal: stopping.signal,
    });
    manager.add(createRegistrationController());
    manager.add(createRegistrationCleaner());
    manager.add(createConfigurationController());
    manager.add(createRenewalController());
    manager.add(createAccessController());
    addHealth(manager, { logger: silentLogger });
    addLeaving(manager);
    addPlacement(manager, { templates });
    addDelivery(manager, { templates });
    addPushExecutor(manager);
    addCallers(manager, callers);
    addMemberCallers(manager, { accepts: () => true });
    const done = manager.start(stopping.signal);
    this.#parts.defer(async () => {
      stopping.abort();
      await done;
      await tunnels.close();
    });
    await Promise.race([manager.ready(), done]);
  }

  /** What an agent does that joins in Push: registers with a token, hands over a credential, beats, tells its status. */
  async join(name: string): Promise<void> {
    const token = { username: 'system:bootstrap:abcdef', groups: [REGISTER_GROUP, 'system:authenticated'] };
    const newcomer = this.host.clientAs({ ...token, groups: [...token.groups, AUTO_APPROVE_GROUP] });
    const key = createAgentKey();
    const { url, ca } = this.member;
    const endpoint = { apiEndpoint: url, caBundle: ca.cert };
    const claim = { clusterId: `id-of-${name}`, clusterName: name, syncMode: 'Push' as const, ...endpoint };
    await submitRegistration(newcomer, registrationObjects(claim, key, `${name}-request`));
    const signal = AbortSignal.timeout(8_000);
    await awaitCertificate(newcomer, `${name}-request`, key, { signal, intervalMs: 10 });
    const { commonName, organizations } = agentSubject(name, privateKeyPin(key));
    const agent = this.host.clientAs({ username: commonName, groups: [...organizations, 'system:authenticated'] });
    const value = this.member.tokenFor({ username: 'asterism-hub', groups: ['system:masters'] });
    const data = { token: Buffer.from(value).toString('base64') };
    const namespace = clusterNamespace(name);
    await agent.resource(SECRETS).patch({ namespace, name: CREDENTIAL_SECRET }, { type: 'merge', body: { data } });
    await beat(agent, name, { now: wallNow(), holder: 'test', timeoutMs: 40_000 });
    const { status } = cluster(name);
    const body = [{ op: 'add', path: '/status', value: status }];
    await agent.resource(CLUSTERS).patch({ name }, { type: 'json', body }, { subresource: 'status' });
  }

  /** Resolves when all that the cluster had in the hub is gone. */
  async leave(name: string): Promise<void> {
    await this.host.client.resource(CLUSTERS).delete({ name });
    const namespace = clusterNamespace(name);
    await untilObject(this.host.client, LEASES, { namespace, name: 'agent' }, (lease) => lease === undefined);
    await untilObject(this.host.client, NAMESPACES, { name: namespace }, (object) => object === undefined);
  }

  async create<T extends KubeObject>(object: T): Promise<void> {
    const { client } = this.templates;
    await client.resource(await client.discovery.typeFor(object)).create(object);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#parts.disposeAsync();
  }

  #noting({ transport }: Client): Client {
    const noting: Transport = {
      request: async (request) => {
        const answer = await transport.request(request);
        if (answer.status === 403) this.forbidden.push(`${request.method} ${request.path}`);
        return answer;
      },
      upgrade: (request) => transport.upgrade(request),
      close: () => Promise.resolve(),
      [Symbol.asyncDispose]: () => Promise.resolve(),
    };
    return createClient({ transport: noting });
  }
}
