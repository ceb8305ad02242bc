import { Writable } from 'node:stream';
import { badRequest, failure } from '@asterism/machinery';
import type { ContainerRef, ContainerRuntime, NodeBackend, PodRef, Process } from '../machine/container-runtime.ts';
import type { PodLife } from './pod-life/pod-life.ts';

/** The containers of a member as its kubelets serve them: what they mount is there before somebody looks. */
export function createPodBackend(runtime: ContainerRuntime, lifeOf: (pod: PodRef) => PodLife | undefined): NodeBackend {
  return {
    async exec(ref, options) {
      await lifeOf(ref)?.fill(ref.container);
      return await runtime.exec(ref, options);
    },
    async attach(ref, options) {
      const process = await runtime.attach(ref, options);
      return options.stdin
        ? withOwnInput(process, lifeOf(ref)?.container(ref.container)?.spec.stdinOnce === true)
        : process;
    },
    async *logs(ref, options, signal) {
      requireStart(ref, lifeOf(ref));
      yield* runtime.logs(ref, options, signal);
    },
    dial: (pod, port) => runtime.dial(pod, port),
    stats: () => runtime.stats(),
  };
}

/** The node of a machine that does not answer. */
export function unreachableBackend(host: string): NodeBackend {
  const refuse = (): Promise<never> =>
    Promise.reject(failure(500, `dial tcp ${host}:10250: connect: no route to host`));
  return {
    exec: refuse,
    attach: refuse,
    async *logs() {
      yield await refuse();
    },
    dial: refuse,
    stats: () => [],
  };
}

/** Only with `stdinOnce` does the container's input end with that of the one who is attached, or with his leaving. */
function withOwnInput(process: Process, once: boolean): Process {
  const { stdin, stdout, stderr, exit } = process;
  if (once) {
    const kill = (signal: 'TERM' | 'KILL'): void => {
      stdin.end();
      process.kill(signal);
    };
    return { stdin, stdout, stderr, exit, kill, resize: (size) => process.resize(size) };
  }
  stdin.on('error', () => {});
  const own = new Writable({ write: (chunk, encoding, done) => void stdin.write(chunk, encoding, done) });
  void exit.then(() => own.destroy());
  return {
    stdin: own,
    stdout,
    stderr,
    exit,
    kill: (signal) => process.kill(signal),
    resize: (size) => process.resize(size),
  };
}

function requireStart({ pod, container }: ContainerRef, life: PodLife | undefined): void {
  const { state, containerID } = life?.container(container) ?? {};
  if (containerID !== undefined || !state?.waiting) return;
  const { reason } = state.waiting;
  const why =
    reason === 'ErrImagePull'
      ? "image can't be pulled"
      : reason === 'ImagePullBackOff'
        ? 'trying and failing to pull image'
        : reason;
  throw badRequest(`container "${container}" in pod "${pod}" is waiting to start: ${why}`);
}
