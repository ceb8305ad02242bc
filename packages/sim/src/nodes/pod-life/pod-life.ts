import type { Clock } from '@asterism/client';
import type { Container, Pod, PodStatus } from '@asterism/machinery';
import type { ContainerRef, ContainerRuntime, PodRef } from '../../machine/container-runtime.ts';
import { timestamp } from '../../timestamp.ts';
import { type ContainerHost, type ContainerKind, ContainerLife } from './container-life.ts';
import { ContainerStarter, type StartingPod } from './container-starter.ts';
import { describePod, type PodFacts } from './describe-pod.ts';
import { mayRestart } from './may-restart.ts';
import { readLastWords } from './read-last-words.ts';
import { volumeFault } from './volume-files.ts';
import type { PodEvent, PodHost, PodWorld } from './pod-world.ts';

/** What comes of a look at a pod. */
export interface PodStep {
  /** Look again in so many ms, if nothing happens before. */
  after?: number;
  /** Nothing is worth telling yet. */
  quiet?: boolean;
  /** It was deleted, and nothing of it runs any more. */
  gone?: boolean;
}

const RETRY_MS = 1000;
const QUIET_MS = 1000;

/**
 * The life of one pod on its node, from bound to gone. `sync` brings it a step further, as often as it is called; whoever made
 * it calls when the pod's object has changed, when `changed` was called, and at the time that the last call named.
 */
export class PodLife implements ContainerHost, StartingPod {
  readonly uid: string;
  readonly changed: () => void;
  readonly #world: PodWorld;
  readonly #node: PodHost;
  readonly #lives: ContainerLife[];
  readonly #since: number;
  #pod: Pod;
  #podIP: string | undefined;
  #startTime: string | undefined;
  #initialized = false;
  #restored: boolean;
  #end: PodFacts['end'];
  #over = false;
  #stoppingSince: number | undefined;
  readonly #starter: ContainerStarter;
  #disposed = false;

  constructor(world: PodWorld, node: PodHost, pod: Pod, changed: () => void) {
    this.#world = world;
    this.#node = node;
    this.#pod = pod;
    this.changed = changed;
    this.uid = pod.metadata?.uid ?? '';
    this.#since = world.clock.monotonic();
    const { initContainers = [], containers = [] } = pod.spec ?? {};
    const kindOf = ({ restartPolicy }: Container): ContainerKind => (restartPolicy === 'Always' ? 'sidecar' : 'init');
    this.#lives = [
      ...initContainers.map((each) => new ContainerLife(this, each, kindOf(each))),
      ...containers.map((each) => new ContainerLife(this, each, 'main')),
    ];
    if (initContainers.length > 0) for (const life of this.#lives) life.wait('PodInitializing');
    this.#restored = this.#restore();
    this.#starter = new ContainerStarter(world, this);
  }

  get pod(): Pod {
    return this.#pod;
  }

  get isEnding(): boolean {
    return this.#disposed || this.#pod.metadata?.deletionTimestamp !== undefined;
  }

  get clock(): Clock {
    return this.#world.clock;
  }

  get runtime(): ContainerRuntime {
    return this.#world.runtime;
  }

  ref(container: string): ContainerRef {
    return { ...this.#ref(), container };
  }

  podIP(): string {
    return this.#podIP ?? '';
  }

  graceMs(): number {
    return (this.#pod.spec?.terminationGracePeriodSeconds ?? 30) * 1000;
  }

  event(type: PodEvent['type'], reason: string, message: string, container?: string): void {
    this.#world.event(
      this.#pod,
      container === undefined ? { type, reason, message } : { type, reason, message, container },
    );
  }

  lastWords(life: ContainerLife, failed: boolean): string | undefined | Promise<string | undefined> {
    return readLastWords(life, failed, (limit) =>
      this.runtime.logs(this.ref(life.spec.name), limit, AbortSignal.timeout(5000)),
    );
  }

  /** One of its containers, by name. */
  container(name: string): ContainerLife | undefined {
    return this.#lives.find(({ spec }) => spec.name === name);
  }

  async sync(pod: Pod): Promise<PodStep> {
    this.#pod = pod;
    this.#adopt(pod);
    if (pod.metadata?.deletionTimestamp !== undefined) return this.#stop();
    const { phase, reason = '', message = '' } = pod.status ?? {};
    // Whoever wrote that wants it to end, as for a real kubelet.
    if (phase === 'Succeeded' || phase === 'Failed') {
      this.#end ??= { phase, reason, message };
      this.#over = true;
    }
    if (this.#end) return this.#windDown();
    if (this.#podIP === undefined) {
      const step = await this.#setUp();
      if (step) return step;
    }
    const deadline = this.#deadlineIn();
    if (deadline !== undefined && deadline <= 0) {
      const message = 'Pod was active on the node longer than the specified deadline';
      this.event('Normal', 'DeadlineExceeded', message);
      return this.#finish({ phase: 'Failed', reason: 'DeadlineExceeded', message });
    }
    const next = this.#mainsOver() ? undefined : await this.#advance();
    if (!this.#end && this.#mainsOver()) {
      this.#initialized = true;
      return this.#finish({ phase: this.#hasFailed() ? 'Failed' : 'Succeeded' });
    }
    return stepAfter(next, deadline);
  }

  status(): PodStatus {
    const deleted = this.#pod.metadata?.deletionTimestamp !== undefined && !this.#lives.some(({ running }) => running);
    const now = timestamp(this.clock.wall().getTime());
    return describePod(this.#pod, {
      lives: this.#lives,
      podIP: this.#podIP,
      hostIP: this.#node.hostIP,
      startTime: this.#startTime ?? now,
      initialized: this.#initialized,
      end: this.#over ? this.#end : deleted ? { phase: this.#hasFailed() ? 'Failed' : 'Succeeded' } : undefined,
      now,
    });
  }

  /** Fills what the container mounts, before somebody looks into it. */
  async fill(name: string): Promise<void> {
    const life = this.container(name);
    if (life?.made) await this.#starter.fill(life, life.spec);
  }

  /** Nothing more comes of it; what runs of it ends. */
  dispose(): void {
    this.#disposed = true;
    for (const life of this.#lives) life.abandon();
    this.runtime.remove(this.#ref());
  }

  #ref(): PodRef {
    const { namespace = '', name = '' } = this.#pod.metadata ?? {};
    return { namespace, pod: name };
  }

  #of(...kinds: ContainerKind[]): ContainerLife[] {
    return this.#lives.filter(({ kind }) => kinds.includes(kind));
  }

  /** Takes over what was told of a pod that ran before its node restarted: all that ran is gone. */
  #restore(): boolean {
    const { containerStatuses = [], initContainerStatuses = [], startTime } = this.#pod.status ?? {};
    const statuses = [...containerStatuses, ...initContainerStatuses];
    this.#startTime = startTime;
    for (const status of statuses) this.container(status.name)?.restore(status);
    const ran = statuses.some(({ state }) => state?.running ?? state?.terminated);
    // What they prepared was in memory too.
    if (ran) for (const life of this.#of('init', 'sidecar')) life.wait('PodInitializing');
    return ran;
  }

  /** Containers that were added to it, or given another image. */
  #adopt({ spec }: Pod): void {
    for (const container of [...(spec?.initContainers ?? []), ...(spec?.containers ?? [])]) {
      const life = this.container(container.name);
      if (life && life.spec.image !== container.image) life.spec = container;
    }
    for (const added of spec?.ephemeralContainers ?? []) {
      if (!this.container(added.name)) this.#lives.push(new ContainerLife(this, added, 'ephemeral'));
    }
  }

  /** The volumes and the address; undefined when all is there. */
  async #setUp(): Promise<PodStep | undefined> {
    const left = this.#restored ? 0 : this.#since + this.#world.startMs - this.clock.monotonic();
    if (left > 0) return { after: left, quiet: left < QUIET_MS };
    const fault = await volumeFault(this.#pod, this.#world.objects);
    if (fault !== undefined) {
      this.event('Warning', 'FailedMount', fault);
      return { after: RETRY_MS };
    }
    this.#podIP = this.#pod.spec?.hostNetwork ? this.#node.hostIP : this.#node.takeAddress(this.#pod);
    if (this.#podIP === undefined) {
      const why = 'no IP addresses available in range set';
      this.event('Warning', 'FailedCreatePodSandBox', `Failed to create pod sandbox: ${why}`);
      return { after: RETRY_MS };
    }
    if (this.#restored)
      this.event('Normal', 'SandboxChanged', 'Pod sandbox changed, it will be killed and re-created.');
    this.#startTime ??= timestamp(this.clock.wall().getTime());
    return undefined;
  }

  #deadlineIn(): number | undefined {
    const seconds = this.#pod.spec?.activeDeadlineSeconds;
    return seconds === undefined || !this.#startTime
      ? undefined
      : Date.parse(this.#startTime) + seconds * 1000 - this.clock.wall().getTime();
  }

  #hasFailed(): boolean {
    return this.#of('main').some(({ ended }) => ended?.exitCode !== 0);
  }

  #mainsOver(): boolean {
    return this.#of('main').every((life) => life.ended !== undefined && !mayRestart(life, this.#pod));
  }

  /** Starts what is to be started now: in how many ms there is more to do. */
  async #advance(): Promise<number | undefined> {
    const waits: (number | undefined)[] = [];
    for (const life of this.#of('init', 'sidecar')) {
      if (life.kind === 'init' && (this.#initialized || life.ready)) continue;
      if (!life.running && life.state.terminated && !mayRestart(life, this.#pod)) {
        this.#finish({ phase: 'Failed' });
        return undefined;
      }
      if (!life.running) waits.push(await this.#starter.tryStart(life));
      if (!this.#initialized && !(life.kind === 'sidecar' && life.started)) return earliest(waits);
    }
    this.#initialized = true;
    for (const life of this.#of('main', 'ephemeral')) {
      if (!life.running && (life.ended === undefined || mayRestart(life, this.#pod)))
        waits.push(await this.#starter.tryStart(life));
      if (life.hooking) break;
    }
    return earliest(waits);
  }

  place() {
    return { podIP: this.podIP(), hostIP: this.#node.hostIP, allocatable: this.#node.allocatable };
  }

  #finish(end: NonNullable<PodFacts['end']>): PodStep {
    this.#end = end;
    return this.#windDown();
  }

  #windDown(): PodStep {
    if (!this.#endLives(this.graceMs())) this.#over = true;
    return {};
  }

  #stop(): PodStep {
    const now = this.clock.monotonic();
    this.#stoppingSince ??= now;
    const graceMs = (this.#pod.metadata?.deletionGracePeriodSeconds ?? 0) * 1000;
    if (this.#endLives(Math.max(0, this.#stoppingSince + graceMs - now))) return {};
    const left = this.#stoppingSince + Math.min(graceMs, this.#world.stopMs) - now;
    return left > 0 ? { after: left, quiet: true } : { gone: true };
  }

  /** Ends what runs, sidecars last and one after the other: whether something still does. */
  #endLives(graceMs: number): boolean {
    const running = this.#of('init', 'main', 'ephemeral').filter((life) => life.running);
    const sidecars = this.#of('sidecar').filter((life) => life.running);
    const now = running.length > 0 ? running : sidecars.slice(-1);
    for (const life of now) life.terminate(graceMs, `Stopping container ${life.spec.name}`);
    return now.length > 0;
  }
}

function earliest(waits: readonly (number | undefined)[]): number | undefined {
  const known = waits.filter((wait) => wait !== undefined);
  return known.length > 0 ? Math.min(...known) : undefined;
}

function stepAfter(...waits: (number | undefined)[]): PodStep {
  const after = earliest(waits);
  return after === undefined ? {} : { after };
}
