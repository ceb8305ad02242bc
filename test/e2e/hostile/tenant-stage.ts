import { type Client, type Connection, createClient, createTransport } from '@asterism/client';
import type { KubeObject } from '@asterism/machinery';
import { connectionOf } from '../../cluster/connection-of.ts';
import { openHub } from '../../cluster/fleet.ts';
import type { FleetHub } from '../../cluster/fleet-hub.ts';
import { RunFolder } from '../../cluster/run-folder.ts';
import { SimulatedCluster, type SimulatedPlan } from '../../cluster/placing/placing-members.ts';

const RBAC = 'rbac.authorization.k8s.io';

const plan = (name: string): SimulatedPlan => ({
  name,
  syncMode: 'Pull',
  description: {},
  nodes: [{ name: `${name}-0`, cpu: '8', memory: '32Gi', pods: 110 }],
});

/** A hub with the members `alder` and `birch`, and users who are what RBAC of the hub's API server says. */
export class TenantStage implements AsyncDisposable {
  readonly admin: Client;
  readonly #connection: Connection;
  readonly #members: ReadonlyMap<string, SimulatedCluster>;
  readonly #parts: AsyncDisposableStack;

  private constructor(
    admin: Client,
    { connection, members }: { connection: Connection; members: readonly SimulatedCluster[] },
    parts: AsyncDisposableStack,
  ) {
    this.admin = admin;
    this.#connection = connection;
    this.#members = new Map(members.map((member) => [member.name, member]));
    this.#parts = parts;
  }

  static async start(startHub: (run: RunFolder) => Promise<FleetHub>): Promise<TenantStage> {
    await using parts = new AsyncDisposableStack();
    const run = parts.use(await RunFolder.open());
    const plans = ['alder', 'birch'].map(plan);
    const starting = [
      startHub(run).then((each) => parts.use(each)),
      ...plans.map((each) => SimulatedCluster.start(run, each).then((started) => parts.use(started))),
    ] as const;
    await Promise.allSettled(starting);
    const [started, ...members] = await Promise.all(starting);
    const hub = await openHub(run, started, parts);
    const connection = await connectionOf(started.kubeconfig);
    const { caData = '' } = connection;
    await Promise.all(members.map((member, index) => (member as SimulatedCluster).join(hub, caData, plans[index]!)));
    return new TenantStage(hub.client, { connection, members: members as SimulatedCluster[] }, parts.move());
  }

  /** The hub's API server, as a user without any group. */
  as(user: string): Client {
    const transport = this.#parts.use(createTransport({ ...this.#connection, impersonate: { user } }));
    return createClient({ transport, userAgent: 'test' });
  }

  /** The API of a member, as its own administrator. */
  member(name: string): Client {
    const member = this.#members.get(name);
    if (!member) throw new Error(`there is no member ${name}`);
    return member.client;
  }

  /** Creates objects as the hub's administrator, in this order. */
  async create(...objects: readonly KubeObject[]): Promise<void> {
    for (const object of objects) {
      await this.admin.resource(await this.admin.discovery.typeFor(object)).create(object);
    }
  }

  /** Gives a user rights in a namespace. */
  async grant(user: string, namespace: string, rules: readonly object[]): Promise<void> {
    const metadata = { name: `for-${user}`, namespace };
    await this.create(
      { apiVersion: `${RBAC}/v1`, kind: 'Role', metadata, rules: [...rules] },
      {
        apiVersion: `${RBAC}/v1`,
        kind: 'RoleBinding',
        metadata,
        roleRef: { apiGroup: RBAC, kind: 'Role', name: metadata.name },
        subjects: [{ apiGroup: RBAC, kind: 'User', name: user }],
      },
    );
  }

  /** Gives a user rights everywhere. */
  async grantEverywhere(user: string, rules: readonly object[]): Promise<void> {
    const metadata = { name: `for-${user}` };
    await this.create(
      { apiVersion: `${RBAC}/v1`, kind: 'ClusterRole', metadata, rules: [...rules] },
      {
        apiVersion: `${RBAC}/v1`,
        kind: 'ClusterRoleBinding',
        metadata,
        roleRef: { apiGroup: RBAC, kind: 'ClusterRole', name: metadata.name },
        subjects: [{ apiGroup: RBAC, kind: 'User', name: user }],
      },
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#parts.disposeAsync();
  }
}
