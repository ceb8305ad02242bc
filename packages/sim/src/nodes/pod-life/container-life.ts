import type { Clock } from '@asterism/client';
import type { Container, ContainerState, ContainerStateTerminated, Probe } from '@asterism/machinery';
import { formatTime } from '@asterism/machinery';
import type {
  ContainerRef,
  ContainerRuntime,
  RunningContainer,
  RuntimeContainer,
} from '../../machine/container-runtime.ts';
import { CrashBackoff } from './crash-backoff.ts';
import { Probing } from './probing.ts';
import { type Check, type Outcome, runCheck } from './run-check.ts';

/** Init containers end before the next one starts; sidecars are init containers that stay. */
export type ContainerKind = 'init' | 'sidecar' | 'main' | 'ephemeral';

/** What a container needs of its pod. */
export interface ContainerHost {
  clock: Clock;
  runtime: ContainerRuntime;
  ref(container: string): ContainerRef;
  podIP(): string;
  graceMs(): number;
  /** Something about it has changed. */
  changed(): void;
  event(type: 'Normal' | 'Warning', reason: string, message: string, container: string): void;
  /** What it wrote as the reason of its end. */
  lastWords(life: ContainerLife, failed: boolean): string | undefined | Promise<string | undefined>;
}

type ProbeKind = 'Startup' | 'Readiness' | 'Liveness';

/** One container of a pod through all of its runs. */
export class ContainerLife {
  readonly kind: ContainerKind;
  state: ContainerState = { waiting: { reason: 'ContainerCreating' } };
  lastState: ContainerState | undefined;
  restarts = 0;
  /** Of the run that is on, or was the last. */
  containerID: string | undefined;
  /** As the runtime has it; what it mounts may be filled in until somebody looks. */
  made: RuntimeContainer | undefined;
  /** When its image, which could not be had, is tried for again. */
  pullsAt: number | undefined;
  readonly #host: ContainerHost;
  #spec: Container;
  #run: RunningContainer | undefined;
  #backoff: CrashBackoff | undefined;
  #pulls: CrashBackoff | undefined;
  #probes: Map<ProbeKind, Probing> | undefined;
  #started = false;
  #hooking = false;
  #ending: { before: number; cancel: () => void } | undefined;

  constructor(host: ContainerHost, spec: Container, kind: ContainerKind) {
    this.#host = host;
    this.#spec = spec;
    this.kind = kind;
  }

  get spec(): Container {
    return this.#spec;
  }

  /** Its pod's template has changed in place; another image needs another run. */
  set spec(spec: Container) {
    const before = this.#spec.image;
    this.#spec = spec;
    if (before === spec.image) return;
    this.pullsAt = undefined;
    this.terminate(this.#host.graceMs(), `Container ${spec.name} definition changed, will be restarted`);
  }

  get running(): boolean {
    return this.#run !== undefined;
  }

  /** What ended last, if it runs no more. */
  get ended(): ContainerStateTerminated | undefined {
    return this.#run ? undefined : (this.state.terminated ?? this.lastState?.terminated);
  }

  /** Runs, its hook has ended, and its startup probe has succeeded. */
  get started(): boolean {
    return this.running && !this.#hooking && this.#started;
  }

  /** Runs, but the next container has to wait for the end of its hook. */
  get hooking(): boolean {
    return this.#hooking;
  }

  get ready(): boolean {
    if (this.kind === 'init') return this.state.terminated?.exitCode === 0;
    return this.started && (this.#probes?.get('Readiness')?.passing ?? true);
  }

  /** As after a restart of its node: what ran is gone. */
  restore(status: {
    state?: ContainerState;
    lastState?: ContainerState;
    restartCount: number;
    containerID?: string;
  }): void {
    const { state, lastState, restartCount, containerID } = status;
    this.restarts = restartCount;
    this.containerID = containerID;
    this.lastState = lastState;
    if (state?.terminated) this.state = state;
    if (!state?.running) return;
    const { startedAt } = state.running;
    const end: ContainerStateTerminated = { exitCode: 255, reason: 'Unknown', finishedAt: this.#now() };
    if (startedAt) end.startedAt = startedAt;
    if (containerID) end.containerID = containerID;
    this.state = { terminated: end };
  }

  wait(reason: string, message?: string): void {
    if (this.state.terminated) this.lastState = this.state;
    if (this.state.waiting?.reason === reason && this.state.waiting.message === message) return;
    this.state = { waiting: message === undefined ? { reason } : { reason, message } };
  }

  /** In how many ms it may be started again; 0 for now. */
  restartsIn(): number {
    const ended = this.ended;
    if (!ended || !this.#backoff) return 0;
    const left = this.#backoff.notBefore(Date.parse(ended.finishedAt ?? '')) - this.#host.clock.wall().getTime();
    // The end is a timestamp in the status. If somebody sets the clock back, the wait must not get longer.
    return Math.min(left, this.#backoff.delayMs);
  }

  get backoffMs(): number {
    return this.#backoff?.delayMs ?? 0;
  }

  /** Takes note that its image could not be had. */
  pullFailed(): void {
    const now = this.#host.clock.monotonic();
    this.#pulls ??= new CrashBackoff();
    this.#pulls.tried(now);
    this.pullsAt = this.#pulls.notBefore(now);
  }

  start(made: RuntimeContainer): void {
    const { runtime, clock } = this.#host;
    if (this.ended) {
      this.restarts += 1;
      this.lastState = this.state.terminated ? this.state : this.lastState;
      this.#backoff ??= new CrashBackoff();
      this.#backoff.tried(clock.wall().getTime());
    }
    this.made = made;
    const run = runtime.start(this.#host.ref(this.#spec.name), made);
    this.#run = run;
    this.containerID = `simulated://${run.id}`;
    this.state = { running: { startedAt: this.#now() } };
    this.#host.event('Normal', 'Created', `Created container: ${this.#spec.name}`, this.#spec.name);
    this.#host.event('Normal', 'Started', `Started container ${this.#spec.name}`, this.#spec.name);
    void run.exit.then(({ code }) => this.#end(run, code));
    const { postStart } = this.#spec.lifecycle ?? {};
    if (postStart) void this.#hook(run, postStart);
    else this.#watch();
  }

  /**
   * Ends it: its preStop hook, then TERM, then KILL when `graceMs` are over. Asked again, a shorter grace holds.
   * @param why of the event that tells of it; none for an ending that others tell of
   */
  terminate(graceMs: number, why?: string): void {
    const run = this.#run;
    const { clock } = this.#host;
    const before = clock.monotonic() + graceMs;
    if (!run || (this.#ending && this.#ending.before <= before)) return;
    const first = this.#ending === undefined;
    this.#ending?.cancel();
    const cancel = clock.setTimer(() => run.signal('KILL'), graceMs, { background: true });
    this.#ending = { before, cancel };
    if (!first) return;
    this.#stopProbes();
    if (why) this.#host.event('Normal', 'Killing', why, this.#spec.name);
    void this.#terminate(run, graceMs);
  }

  /** Its node is gone, or its pod: nothing more is told. */
  abandon(): void {
    this.#run = undefined;
    this.#ending?.cancel();
    this.#stopProbes();
  }

  async #terminate(run: RunningContainer, graceMs: number): Promise<void> {
    const { preStop } = this.#spec.lifecycle ?? {};
    const fault = preStop && (await this.#check(preStop, graceMs));
    if (fault !== undefined) this.#host.event('Warning', 'FailedPreStopHook', 'PreStopHook failed', this.#spec.name);
    run.signal(graceMs > 0 ? 'TERM' : 'KILL');
  }

  async #hook(run: RunningContainer, postStart: Check): Promise<void> {
    this.#hooking = true;
    const fault = await this.#check(postStart, 24 * 3600 * 1000);
    if (this.#run !== run) return;
    this.#hooking = false;
    if (fault === undefined) this.#watch();
    else {
      this.#host.event('Warning', 'FailedPostStartHook', 'PostStartHook failed', this.#spec.name);
      this.terminate(this.#host.graceMs(), 'FailedPostStartHook');
    }
    this.#host.changed();
  }

  #watch(): void {
    const { startupProbe } = this.#spec;
    this.#started = startupProbe === undefined;
    if (startupProbe) this.#probe('Startup', startupProbe);
    else this.#watchStarted();
  }

  #watchStarted(): void {
    const { livenessProbe, readinessProbe } = this.#spec;
    if (livenessProbe) this.#probe('Liveness', livenessProbe);
    if (readinessProbe) this.#probe('Readiness', readinessProbe);
  }

  #probe(kind: ProbeKind, probe: Probe): void {
    const { clock } = this.#host;
    const { name } = this.#spec;
    const probing = new Probing({
      probe,
      clock,
      initially: kind === 'Liveness',
      check: (timeoutMs) => this.#check(probe, timeoutMs),
      onFailure: (message) => this.#host.event('Warning', 'Unhealthy', `${kind} probe failed: ${message}`, name),
      onChange: (passing) => this.#probed(kind, probe, passing),
    });
    this.#probes ??= new Map();
    this.#probes.set(kind, probing);
  }

  #probed(kind: ProbeKind, probe: Probe, passing: boolean): void {
    if (kind === 'Startup' && passing) {
      this.#probes?.get('Startup')?.stop();
      this.#started = true;
      this.#watchStarted();
    }
    if (kind !== 'Readiness' && !passing) {
      const graceSeconds = probe.terminationGracePeriodSeconds;
      const why = `Container ${this.#spec.name} failed ${kind.toLowerCase()} probe, will be restarted`;
      this.terminate(graceSeconds === undefined ? this.#host.graceMs() : graceSeconds * 1000, why);
    }
    this.#host.changed();
  }

  #check(check: Check, timeoutMs: number): Promise<Outcome> {
    const { runtime: backend, clock } = this.#host;
    const container = this.#spec;
    const target = { backend, ref: this.#host.ref(container.name), container, podIP: this.#host.podIP(), clock };
    return runCheck(check, target, timeoutMs);
  }

  #stopProbes(): void {
    for (const probing of this.#probes?.values() ?? []) probing.stop();
    this.#probes = undefined;
  }

  async #end(run: RunningContainer, code: number): Promise<void> {
    if (this.#run !== run) return;
    const finishedAt = this.#now();
    this.#stopProbes();
    const message = await this.#host.lastWords(this, code !== 0);
    // Its pod went in the meantime.
    if (this.#run !== run) return;
    this.#run = undefined;
    this.#started = false;
    this.#hooking = false;
    this.#ending?.cancel();
    this.#ending = undefined;
    const { startedAt } = this.state.running ?? {};
    const terminated: ContainerStateTerminated = { exitCode: code, reason: code === 0 ? 'Completed' : 'Error' };
    if (message) terminated.message = message;
    if (startedAt) terminated.startedAt = startedAt;
    terminated.finishedAt = finishedAt;
    if (this.containerID) terminated.containerID = this.containerID;
    this.state = { terminated };
    this.#host.changed();
  }

  #now(): string {
    return formatTime(this.#host.clock.wall().getTime());
  }
}
