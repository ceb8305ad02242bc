import { join } from 'node:path';
import { type Agent, runAgent } from '@asterism/agent';
import { type Client, type Connection, createClient, createTransport } from '@asterism/client';
import { AGENT_SERVICE_ACCOUNT, SYSTEM_NAMESPACE } from '@asterism/fleet/api';
import { createBootstrapToken, memberManifests, type RegistrationFacts } from '@asterism/fleet/join';
import { type KubeObject, SERVICE_ACCOUNTS } from '@asterism/machinery';
import { silentLogger } from '@asterism/runtime';
import { type Member, type MemberOptions, startMember } from '@asterism/sim';
import type { OpenHub } from '../fleet.ts';
import type { RunFolder } from '../run-folder.ts';

export interface SimulatedPlan {
  name: string;
  syncMode: 'Push' | 'Pull';
  description: RegistrationFacts;
  nodes: MemberOptions['nodes'];
}

interface TokenRequest extends KubeObject {
  status?: { token?: string };
}

/** A simulated cluster that stops and starts again as itself, and its agent, which has the rights of the manifests and no more. */
export class SimulatedCluster implements AsyncDisposable {
  readonly name: string;
  readonly client: Client;
  readonly #options: MemberOptions;
  readonly #admin: Connection;
  #member: Member | undefined;
  #agent: Agent | undefined;

  private constructor(options: MemberOptions, member: Member) {
    this.name = options.name;
    this.#options = options;
    this.#member = member;
    this.#admin = member.admin;
    this.client = createClient({ transport: createTransport(member.admin), userAgent: 'test' });
  }

  static async start(run: RunFolder, { name, syncMode, nodes }: SimulatedPlan): Promise<SimulatedCluster> {
    const options: MemberOptions = {
      name,
      dataDir: join(await run.folder(name), 'data'),
      listen: { host: '127.0.0.1', port: 0 },
      nodes,
      manifests: memberManifests({ syncMode }),
      podStartMs: 100,
      podStopMs: 50,
      logger: silentLogger,
    };
    return new SimulatedCluster(options, await startMember(options));
  }

  /** Resolves when it has joined. */
  async join(hub: OpenHub, hubCa: string, { name, syncMode, description }: SimulatedPlan): Promise<void> {
    const { token } = await createBootstrapToken(hub.client, { autoApprove: true, cluster: name, facts: description });
    const { server, caData = '' } = this.#admin;
    const credential = { kind: 'token', token: await this.#agentToken() } as const;
    this.#agent = runAgent({
      clusterName: name,
      syncMode,
      description,
      hub: { server: hub.address, ca: hubCa, token },
      member: { server, caData, credential },
      ...(syncMode === 'Push' ? { endpoint: { server, caBundle: caData } } : {}),
      logger: silentLogger,
    });
    await this.#agent.ready;
  }

  /** Its API server and all that moves in it. */
  async stop(): Promise<void> {
    await this.#member?.stop();
    this.#member = undefined;
  }

  async startAgain(): Promise<void> {
    this.#member = await startMember(this.#options);
  }

  async #agentToken(): Promise<string> {
    const body = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: { expirationSeconds: 7200 } };
    const options = { name: AGENT_SERVICE_ACCOUNT, subresource: 'token' };
    const accounts = this.client.resource(SERVICE_ACCOUNTS);
    const made: TokenRequest = await accounts.create({ ...body, metadata: { namespace: SYSTEM_NAMESPACE } }, options);
    return made.status?.token ?? '';
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#agent?.stop();
    await this.client.transport.close();
    await this.stop();
  }
}
