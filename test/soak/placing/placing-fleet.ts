import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import { type Client, createClient, createTransport } from '@asterism/client';
import { createBootstrapToken } from '@asterism/fleet/join';
import { connectionOf } from '../../cluster/connection-of.ts';
import { MemberWithAgent } from '../../../packages/cli/src/up/member-with-agent.ts';
import { type MemberPlan, planMembers } from '../../../packages/cli/src/up/member-plan.ts';
import { startWorkers } from '../../../packages/cli/src/up/workers.ts';
import type { Daemon } from '../../cluster/daemon.ts';
import { EmbeddedHub } from '../../cluster/embedded-hub.ts';
import { RunFolder } from '../../cluster/run-folder.ts';
import { memberConnection } from '../../demo/aster-up.ts';

/** A simulated cluster of a {@link PlacingFleet}. */
export interface PlacedMember extends MemberPlan {
  /** On its own address, as its own administrator: the hub has no part in it. */
  client: Client;
}

/**
 * `aster hub` in a process of its own, to be killed, and beside it simulated members and their agents, in two processes that
 * outlive it: some written to by the hub (Push), some by their agents (Pull).
 */
export class PlacingFleet implements AsyncDisposable {
  readonly hub: EmbeddedHub;
  /** As the hub's administrator. */
  readonly client: Client;
  readonly members: readonly PlacedMember[];
  /** What the hub has logged is in `hub/hub.log`, what agents have in `logs`. */
  readonly run: RunFolder;
  readonly #parts: AsyncDisposableStack;

  private constructor(fleet: Pick<PlacingFleet, 'hub' | 'client' | 'members' | 'run'>, parts: AsyncDisposableStack) {
    this.hub = fleet.hub;
    this.client = fleet.client;
    this.members = fleet.members;
    this.run = fleet.run;
    this.#parts = parts;
  }

  /** Resolves when so many members have joined. */
  static async start(count: number): Promise<PlacingFleet> {
    await using parts = new AsyncDisposableStack();
    const run = parts.use(await RunFolder.open());
    await run.folder('logs');
    const workers = startWorkers(run.path);
    parts.defer(() => workers.stop());
    const hub = parts.use(await EmbeddedHub.start(run));
    const connection = await connectionOf(hub.kubeconfig);
    const clientOf = (to: typeof connection): Client =>
      createClient({ transport: parts.use(createTransport(to)), userAgent: 'test' });
    const client = clientOf(connection);
    const context = {
      ...workers,
      hub: { url: connection.server, ca: connection.caData ?? '' },
      dataDir: run.path,
      progress: { waiting: () => {}, done: () => {} },
    };
    const joining = planMembers(count).map(async (plan): Promise<PlacedMember> => {
      const { provider, region, zones, labels } = plan;
      const facts = { provider, region, zones, labels };
      const { token } = await createBootstrapToken(client, { autoApprove: true, facts });
      await new MemberWithAgent(plan, { ...context, token }).join();
      return { ...plan, client: clientOf(await memberConnection(join(run.path, 'members', plan.name))) };
    });
    const members = await Promise.all(joining);
    return new PlacingFleet({ hub, client, members, run }, parts.move());
  }

  /** `aster hub`. */
  get daemon(): Daemon {
    return this.hub.daemons[0];
  }

  get dataDir(): string {
    return join(this.run.path, 'hub', 'data');
  }

  /** What hub and agents have logged, where somebody wants to read it. */
  async keepLogs(): Promise<void> {
    const folder = process.env['ASTERISM_SOAK_LOGS'];
    if (!folder) return;
    await cp(join(this.run.path, 'logs'), folder, { recursive: true });
    await cp(join(this.run.path, 'hub', 'hub.log'), join(folder, 'hub.log'));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#parts.disposeAsync();
  }
}
