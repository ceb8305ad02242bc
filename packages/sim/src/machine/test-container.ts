import { buffer } from 'node:stream/consumers';
import { type Clock, systemClock } from '@asterism/client';
import { createContainerRuntime } from './create-container-runtime.ts';
import type {
  ContainerRef,
  ContainerRuntime,
  Process,
  RunningContainer,
  RuntimeContainer,
} from './container-runtime.ts';

/** Timers of tests keep the process alive, so that it waits for them. */
const testClock: Clock = { ...systemClock, setTimer: (callback, ms) => systemClock.setTimer(callback, ms) };

/** A container of a runtime of its own, for the tests of this folder. */
export interface TestContainer {
  runtime: ContainerRuntime;
  ref: ContainerRef;
  running: RunningContainer;
  exec(command: readonly string[], options?: { tty?: boolean; stdin?: boolean }): Promise<Process>;
  /** Runs a command to its end. */
  run(command: readonly string[], input?: string | Uint8Array): Promise<{ out: string; error: string; code: number }>;
}

export function startTestContainer(spec: Partial<RuntimeContainer> = {}, clock: Clock = testClock): TestContainer {
  const runtime = createContainerRuntime({ clock });
  const ref = { namespace: 'demo', pod: 'web-0', container: 'app' };
  const running = runtime.start(ref, testSpec(spec));
  const exec: TestContainer['exec'] = (command, { tty = false, stdin = false } = {}) =>
    runtime.exec(ref, { command, tty, stdin });
  return {
    runtime,
    ref,
    running,
    exec,
    async run(command, input) {
      const process = await exec(command, { stdin: input !== undefined });
      if (input !== undefined) process.stdin.end(input);
      const [out, error, { code }] = await Promise.all([buffer(process.stdout), buffer(process.stderr), process.exit]);
      return { out: out.toString(), error: error.toString(), code };
    },
  };
}

export function testSpec(spec: Partial<RuntimeContainer> = {}): RuntimeContainer {
  return {
    podUid: '6f1c',
    image: 'registry.example/web:1.2',
    command: [],
    env: {},
    workingDir: '/',
    tty: false,
    stdin: false,
    ports: [80],
    files: new Map(),
    hostname: 'web-0',
    ...spec,
  };
}
