import { join } from 'node:path';
import { ADMINS_GROUP, AGENT_SERVICE_ACCOUNT, SYSTEM_NAMESPACE } from '@asterism/fleet/api';
import { memberManifests } from '@asterism/fleet/join';
import type { Hub } from '@asterism/hub';
import type { KubeObject } from '@asterism/machinery';
import type { AgentConfig } from './agents-process.ts';
import type { MemberPlan } from './member-plan.ts';
import type { MemberConfig, MemberReady } from './members-process.ts';
import type { Progress } from './progress.ts';
import type { WorkerProcess } from './worker-process.ts';

export interface MemberContext {
  /** Where agents find it, and whom they trust there. */
  hub: Pick<Hub, 'url' | 'ca'>;
  /** A bootstrap token. */
  token: string;
  dataDir: string;
  progress: Pick<Progress, 'waiting' | 'done'>;
  members: WorkerProcess<MemberConfig, MemberReady>;
  agents: WorkerProcess<AgentConfig, object>;
}

/** One simulated cluster and the agent that joins it, in two processes: they know each other by address and file alone. */
export class MemberWithAgent {
  readonly plan: MemberPlan;
  readonly #context: MemberContext;

  constructor(plan: MemberPlan, context: MemberContext) {
    this.plan = plan;
    this.#context = context;
  }

  /** Resolves when the cluster has joined; rejects with the reason why it cannot. */
  async join(): Promise<void> {
    const { name, nodes, region } = this.plan;
    const { agents, members, progress } = this.#context;
    progress.waiting(name, 'starting');
    const ready = await members.start(name, this.#memberConfig());
    progress.waiting(name, 'up, joining');
    await agents.start(name, this.#agentConfig(ready));
    progress.done(name, `joined (${modeOf(this.plan)}), ${nodes.length} nodes in ${region}`);
  }

  get #tokenFile(): string {
    return join(this.#context.dataDir, 'members', this.plan.name, 'agent-token');
  }

  #logFile(part: string): string {
    return join(this.#context.dataDir, 'logs', `${part}-${this.plan.name}.log`);
  }

  #memberConfig(): MemberConfig {
    const { name, nodes, syncMode } = this.plan;
    return {
      name,
      dataDir: join(this.#context.dataDir, 'members', name),
      logFile: this.#logFile('member'),
      nodes,
      manifests: [...memberManifests({ syncMode }), administrators()],
      agent: { namespace: SYSTEM_NAMESPACE, serviceAccount: AGENT_SERVICE_ACCOUNT, tokenFile: this.#tokenFile },
    };
  }

  #agentConfig({ url, ca }: MemberReady): AgentConfig {
    const { hub, token } = this.#context;
    const { name, syncMode } = this.plan;
    return {
      clusterName: name,
      syncMode,
      hub: { server: hub.url, ca: hub.ca, token },
      member: { server: url, caData: ca, credential: { kind: 'tokenFile', path: this.#tokenFile } },
      // A private member tells nobody where it is.
      ...(this.plan.private ? {} : { endpoint: { server: url, caBundle: ca } }),
      logFile: this.#logFile('agent'),
    };
  }
}

export function modeOf({ syncMode, private: isPrivate }: MemberPlan): string {
  return isPrivate ? `${syncMode}, private` : syncMode;
}

/** The hub's administrators may do everything in the simulated members too: the members' own RBAC says so. */
function administrators(): KubeObject {
  return {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRoleBinding',
    metadata: { name: ADMINS_GROUP },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'Group', name: ADMINS_GROUP }],
  };
}
