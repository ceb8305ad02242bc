import { cp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { NodeShape } from '@asterism/sim';
import { RunFolder } from '../../test/cluster/run-folder.ts';
import { cpuOf, rssOf } from '../harness/cpu-of.ts';
import { MemberUnderTest } from './member-under-test.ts';
import { type MembersProcess, startMembersProcess } from './members-process.ts';

export const MEMBERS = 100;
export const NODES = 50;
export const REPLICAS = 100;
const DEPLOYMENTS_EACH = 5;
export const PODS = REPLICAS * DEPLOYMENTS_EACH;
/** The member that the others are copies of. */
const FIRST = 'first';
const WARM_UP = 3;
const RUNS = 8;
/** What a start has left is given back after a minute of rest, and changes are forgotten after as long. */
const SETTLE_MS = 100_000;
/** Two beats of every node. */
const IDLE_MS = 50_000;

const nodes: NodeShape[] = Array.from({ length: NODES }, (_, index) => ({
  name: `node-${index}`,
  cpu: '16',
  memory: '64Gi',
  pods: 110,
}));

export interface DeploymentTimes {
  /** From the apply to Available with all ready, ms. */
  readyMs: number[];
  /** Of the member's process, from the apply until then. */
  cpuMs: number[];
}

export interface Held {
  emptyBytes: number;
  heldBytes: number;
  startCpuMs: number;
  /** Of a core, in percent. */
  idlePercent: number;
}

/** Simulated members on folders that go with it. */
export class HeldMembers implements AsyncDisposable {
  readonly #folder: RunFolder;
  readonly #signal: AbortSignal;

  private constructor(folder: RunFolder, signal: AbortSignal) {
    this.#folder = folder;
    this.#signal = signal;
  }

  static async create(signal: AbortSignal): Promise<HeldMembers> {
    return new HeldMembers(await RunFolder.open(), signal);
  }

  /** How long Deployments take in a member that is alone in its process. */
  async deploy(): Promise<DeploymentTimes> {
    await using process = await startMembersProcess(this.#signal);
    await using member = await this.#startMember(process, 'timed');
    const times: DeploymentTimes = { readyMs: [], cpuMs: [] };
    for (let run = 0; run < WARM_UP + RUNS; run++) {
      const name = `run-${run}`;
      const { result, cpuMs } = await cpuOf([process.pid], () => member.deploy(name, REPLICAS));
      await member.remove(name, REPLICAS);
      if (run < WARM_UP) continue;
      times.readyMs.push(result);
      times.cpuMs.push(cpuMs);
    }
    return times;
  }

  /** What so many members cost a process that holds them: each a copy of one, with its pods. */
  async hold(count = MEMBERS): Promise<Held> {
    await this.#prepare();
    await using process = await startMembersProcess(this.#signal);
    await delay(2_000, undefined, { signal: this.#signal });
    const emptyBytes = rssOf([process.pid]);
    const start = await cpuOf([process.pid], () => this.#startCopies(process, count));
    await delay(SETTLE_MS, undefined, { signal: this.#signal });
    const idle = await cpuOf([process.pid], () => delay(IDLE_MS, undefined, { signal: this.#signal }));
    return {
      emptyBytes,
      heldBytes: rssOf([process.pid]),
      startCpuMs: start.cpuMs,
      idlePercent: (idle.cpuMs / idle.wallMs) * 100,
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#folder[Symbol.asyncDispose]();
  }

  async #startMember(process: MembersProcess, name: string): Promise<MemberUnderTest> {
    const { admins } = await process.ask({ start: [this.#member(name)] });
    const member = new MemberUnderTest(admins[0]!, this.#signal);
    await member.createNamespace();
    return member;
  }

  /** Leaves the folder of a member that has its pods. */
  async #prepare(): Promise<void> {
    await using process = await startMembersProcess(this.#signal);
    await using member = await this.#startMember(process, FIRST);
    for (let index = 0; index < DEPLOYMENTS_EACH; index++) await member.deploy(`web-${index}`, REPLICAS);
    await process.ask({ stop: [FIRST] });
  }

  async #startCopies(process: MembersProcess, count: number): Promise<void> {
    for (let index = 0; index < count; index++) {
      const copy = this.#member(`copy-${index}`);
      await cp(this.#member(FIRST).dataDir, copy.dataDir, { recursive: true });
      await rm(join(copy.dataDir, 'port'), { force: true });
      await process.ask({ start: [copy] });
    }
  }

  #member(name: string): { name: string; dataDir: string; nodes: NodeShape[] } {
    return { name, dataDir: join(this.#folder.path, name), nodes };
  }
}
