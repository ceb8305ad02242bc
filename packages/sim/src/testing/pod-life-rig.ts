import { ManualClock } from '@asterism/client/testing';
import type { Container, ContainerStatus, Pod, PodSpec, PodStatus } from '@asterism/machinery';
import type { ContainerRuntime } from '../machine/container-runtime.ts';
import { createContainerRuntime } from '../machine/create-container-runtime.ts';
import { PodLife, type PodStep } from '../nodes/pod-life/pod-life.ts';

type Data = Record<string, Record<string, string>>;

/** One pod on a node of its own, with a clock that stands still; for tests. */
export class PodLifeRig {
  readonly clock = new ManualClock();
  readonly runtime: ContainerRuntime = createContainerRuntime({ clock: this.clock });
  readonly events: string[] = [];
  readonly objects = new Map<string, ReadonlyMap<string, Uint8Array>>();
  readonly life: PodLife;
  pod: Pod;
  step: PodStep = {};
  readonly #waiting = new Set<() => void>();

  constructor(spec: Partial<PodSpec>, options: { status?: PodStatus; startMs?: number; objects?: Data } = {}) {
    this.pod = {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'web', namespace: 'demo', uid: 'u1', labels: { app: 'web' } },
      spec: { containers: [app()], ...spec },
      status: options.status ?? { phase: 'Pending' },
    };
    this.give(options.objects ?? {});
    const world = {
      clock: this.clock,
      runtime: this.runtime,
      objects: { get: async ({ kind, name }: { kind: string; name: string }) => this.objects.get(`${kind}/${name}`) },
      token: async () => 'token',
      event: (_: Pod, event: { reason: string; message: string }) =>
        void this.events.push(`${event.reason}: ${event.message}`),
      startMs: options.startMs ?? 0,
      stopMs: 0,
    };
    const node = { hostIP: '192.0.2.1', allocatable: { cpu: '4', memory: '8Gi' }, takeAddress: () => '10.0.0.2' };
    this.life = new PodLife(world, node, this.pod, () => this.#changed());
  }

  /** ConfigMaps and Secrets by `ConfigMap/name`. */
  give(objects: Data): void {
    for (const [key, data] of Object.entries(objects)) {
      this.objects.set(key, new Map(Object.entries(data).map(([name, value]) => [name, Buffer.from(value)])));
    }
  }

  get status(): PodStatus {
    return this.life.status();
  }

  container(name = 'app'): ContainerStatus | undefined {
    const { containerStatuses = [], initContainerStatuses = [] } = this.status;
    return [...containerStatuses, ...initContainerStatuses].find((each) => each.name === name);
  }

  condition(type: string): string | undefined {
    return this.status.conditions?.find((each) => each.type === type)?.status;
  }

  /** One look at it, as after a change or when its time has come. */
  async sync(): Promise<void> {
    this.step = await this.life.sync(this.pod);
    this.pod = { ...this.pod, status: this.life.status() };
  }

  /** Looks at it after each of its changes until it is as wanted. */
  async until(isWanted: () => boolean): Promise<void> {
    for (;;) {
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#waiting.add(resolve);
      await this.sync();
      if (isWanted()) return;
      await promise;
    }
  }

  /** Lets time pass, and looks at it. */
  async after(ms: number): Promise<void> {
    this.clock.advance(ms);
    await this.sync();
  }

  async delete(graceSeconds = 30): Promise<void> {
    const deletionTimestamp = new Date(this.clock.wall().getTime() + graceSeconds * 1000).toISOString();
    const metadata = { ...this.pod.metadata, deletionTimestamp, deletionGracePeriodSeconds: graceSeconds };
    this.pod = { ...this.pod, metadata };
    await this.sync();
  }

  async log(container = 'app', previous = false): Promise<string> {
    const ref = { namespace: 'demo', pod: 'web', container };
    const options = { follow: true, previous, timestamps: false };
    let text = '';
    for await (const piece of this.runtime.logs(ref, options, AbortSignal.timeout(5000)))
      text += Buffer.from(piece).toString();
    return text;
  }

  /** Resolves when the container has written something. */
  async said(container = 'app'): Promise<void> {
    const options = { follow: true, previous: false, timestamps: false };
    const ref = { namespace: 'demo', pod: 'web', container };
    for await (const _ of this.runtime.logs(ref, options, AbortSignal.timeout(5000))) return;
  }

  async exec(command: readonly string[]): Promise<void> {
    const ref = { namespace: 'demo', pod: 'web', container: 'app' };
    await (await this.runtime.exec(ref, { command, tty: false, stdin: false })).exit;
  }

  #changed(): void {
    for (const resolve of this.#waiting) resolve();
    this.#waiting.clear();
  }
}

/** A container that runs a script, or an image of its own. */
export function app(script?: string, more: Partial<Container> = {}): Container {
  return { name: 'app', image: 'web:1', ...(script === undefined ? {} : { command: ['sh', '-c', script] }), ...more };
}
