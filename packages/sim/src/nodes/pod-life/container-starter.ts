import type { Container, Pod } from '@asterism/machinery';
import { ConfigError, containerEnvironment } from './container-environment.ts';
import type { ContainerLife } from './container-life.ts';
import { imageFault } from './image-rule.ts';
import { looksAtFiles, makeContainer } from './make-container.ts';
import { PodMounts } from './pod-mounts.ts';
import type { PodEvent, PodHost, PodWorld } from './pod-world.ts';
import { withPlainSubPaths } from './volume-files.ts';

const RETRY_MS = 1000;
/** How long a failed pull is shown before it is shown as backed off. */
const FAULT_SHOWN_MS = 2000;
const NEVER_MS = 3_600_000;

/** The pod whose containers are started. */
export interface StartingPod {
  readonly pod: Pod;
  /** Nothing is started any more. */
  readonly isEnding: boolean;
  place(): { podIP: string } & Pick<PodHost, 'hostIP' | 'allocatable'>;
  event(type: PodEvent['type'], reason: string, message: string, container?: string): void;
}

/** Starts the containers of one pod: finds the image, makes the environment, fills the volumes, and waits after failures. */
export class ContainerStarter {
  readonly #world: PodWorld;
  readonly #host: StartingPod;
  #mounts: PodMounts | undefined;

  constructor(world: PodWorld, host: StartingPod) {
    this.#world = world;
    this.#host = host;
  }

  /** Starts a container, or says for what it waits: in how many ms to try again. */
  async tryStart(life: ContainerLife): Promise<number | undefined> {
    const backoff = life.restartsIn();
    if (backoff > 0) return this.#waitForRestart(life, backoff);
    const missing = this.#waitForImage(life);
    if (missing !== undefined) return missing;
    try {
      await this.#start(life);
      return undefined;
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      if (life.state.waiting?.message !== error.message)
        this.#host.event('Warning', 'Failed', `Error: ${error.message}`, life.spec.name);
      life.wait('CreateContainerConfigError', error.message);
      return RETRY_MS;
    }
  }

  async #start(life: ContainerLife): Promise<void> {
    const { pod } = this.#host;
    const { spec } = life;
    const env = await containerEnvironment(spec, { pod, place: this.#host.place(), objects: this.#world.objects });
    const made = makeContainer(pod, spec, env);
    this.#mounts?.forget(life);
    if (looksAtFiles(made, spec)) {
      life.made = made;
      await this.fill(life, withPlainSubPaths(spec, env));
    }
    if (this.#host.isEnding) return;
    this.#tellImage(spec);
    life.start(made);
  }

  /** Fills what the container mounts. */
  fill(life: ContainerLife, spec: Container): Promise<void> {
    this.#mounts ??= new PodMounts(this.#world.clock);
    const { pod } = this.#host;
    return this.#mounts.fill(life, spec, {
      pod,
      place: this.#host.place(),
      objects: this.#world.objects,
      token: (projection) => this.#world.token(pod, projection),
    });
  }

  /** Says that the container waits for its image, if that cannot be had: in how many ms to try again. */
  #waitForImage(life: ContainerLife): number | undefined {
    const { image = '' } = life.spec;
    const fault = imageFault(image);
    if (!fault) return undefined;
    const now = this.#world.clock.monotonic();
    const say = (type: PodEvent['type'], reason: string, message: string): void =>
      this.#host.event(type, reason, message, life.spec.name);
    const before = life.state.waiting?.reason;
    if (fault.reason === 'InvalidImageName') {
      if (before !== fault.reason) {
        say('Warning', 'InspectFailed', fault.message);
        say('Warning', 'Failed', `Error: ${fault.reason}`);
      }
      life.wait(fault.reason, fault.message);
      return NEVER_MS;
    }
    if (life.pullsAt !== undefined && life.pullsAt > now) {
      if (before !== 'ImagePullBackOff') {
        say('Normal', 'BackOff', `Back-off pulling image "${image}"`);
        say('Warning', 'Failed', 'Error: ImagePullBackOff');
      }
      life.wait('ImagePullBackOff', `Back-off pulling image "${image}": ${fault.reason}: ${fault.message}`);
      return life.pullsAt - now;
    }
    life.pullFailed();
    say('Normal', 'Pulling', `Pulling image "${image}"`);
    say('Warning', 'Failed', `Failed to pull image "${image}": ${fault.message}`);
    say('Warning', 'Failed', `Error: ${fault.reason}`);
    life.wait(fault.reason, fault.message);
    return FAULT_SHOWN_MS;
  }

  #tellImage({ name, image = '', imagePullPolicy }: Container): void {
    if (imagePullPolicy === 'Always') {
      this.#host.event('Normal', 'Pulling', `Pulling image "${image}"`, name);
      this.#host.event(
        'Normal',
        'Pulled',
        `Successfully pulled image "${image}" in 0s (0s including waiting). Image size: 0 bytes.`,
        name,
      );
    } else this.#host.event('Normal', 'Pulled', `Container image "${image}" already present on machine`, name);
  }

  #waitForRestart(life: ContainerLife, ms: number): number {
    const { namespace, name, uid } = this.#host.pod.metadata ?? {};
    if (life.state.waiting?.reason !== 'CrashLoopBackOff') {
      const message = `Back-off restarting failed container ${life.spec.name} in pod ${name}_${namespace}(${uid})`;
      this.#host.event('Warning', 'BackOff', message, life.spec.name);
    }
    const delay = duration(life.backoffMs);
    const message = `back-off ${delay} restarting failed container=${life.spec.name} pod=${name}_${namespace}(${uid})`;
    life.wait('CrashLoopBackOff', message);
    return ms;
  }
}

/** As Go prints it: `10s`, `2m40s`. */
function duration(ms: number): string {
  const seconds = ms / 1000;
  return seconds < 60 ? `${seconds}s` : `${Math.floor(seconds / 60)}m${seconds % 60}s`;
}
