import { join } from 'node:path';
import { type Client, createClient, createTransport } from '@asterism/client';
import { silentLogger } from '@asterism/runtime';
import { type Member, type MemberOptions, startMember } from '@asterism/sim';
import { writeKubeconfig } from './kubeconfig-file.ts';
import { Kubectl } from './kubectl.ts';
import { requiredBinary } from './real-kubernetes.ts';
import { RunFolder } from './run-folder.ts';

export interface SimulatedMemberOptions extends Pick<MemberOptions, 'podStartMs' | 'podStopMs'> {
  /** Of kubectl. */
  version: string;
  /** How many machines it has. */
  nodes: number;
}

/** A simulated member `alder` that serves on loopback, and its administrator's kubectl. */
export class SimulatedMember implements AsyncDisposable {
  readonly client: Client;
  readonly kubectl: Kubectl;
  readonly run: RunFolder;
  readonly #member: Member;

  private constructor(run: RunFolder, member: Member, kubectl: Kubectl) {
    this.run = run;
    this.#member = member;
    this.kubectl = kubectl;
    this.client = createClient({ transport: createTransport(member.admin) });
  }

  static async start({ version, nodes, ...options }: SimulatedMemberOptions): Promise<SimulatedMember> {
    const run = await RunFolder.open();
    const member = await startMember({
      name: 'alder',
      dataDir: join(run.path, 'member'),
      listen: { host: '127.0.0.1', port: 0 },
      nodes: Array.from({ length: nodes }, (_, n) => ({ name: `alder-${n + 1}`, cpu: '8', memory: '32Gi', pods: 110 })),
      logger: silentLogger,
      ...options,
    });
    const kubeconfig = await writeKubeconfig(join(run.path, 'kubeconfig'), member.admin);
    return new SimulatedMember(run, member, new Kubectl(requiredBinary(`kubectl-${version}`), kubeconfig, run.path));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.client.transport.close();
    await this.#member.stop();
    await this.run[Symbol.asyncDispose]();
  }
}
