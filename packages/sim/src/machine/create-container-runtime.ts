import type { Duplex } from 'node:stream';
import type { Clock } from '@asterism/client';
import { badRequest, failure } from '@asterism/machinery';
import { Container } from './container.ts';
import type { ContainerRef, ContainerRuntime, LogOptions, PodRef } from './container-runtime.ts';
import type { ContainerLog } from './container-log.ts';
import { connectToContainer } from './serve-port.ts';

/** A container by its name: its run at hand, and the log of the one before. */
interface Slot {
  name: string;
  current: Container;
  previous: ContainerLog | undefined;
  runs: number;
}

/** A runtime whose containers exist in memory alone. All time is the clock's. */
export function createContainerRuntime({ clock }: { clock: Clock }): ContainerRuntime {
  const pods = new Map<string, Slot[]>();
  const keyOf = ({ namespace, pod }: PodRef): string => `${namespace}/${pod}`;
  const running = (ref: ContainerRef): Container => {
    const slots = pods.get(keyOf(ref));
    if (!slots) throw failure(404, 'pod does not exist');
    const container = slotOf(slots, ref)?.current;
    if (!container?.running) throw failure(500, `container not found ("${ref.container}")`);
    return container;
  };

  return {
    start(ref, spec) {
      const slots = pods.get(keyOf(ref)) ?? [];
      const before = slotOf(slots, ref);
      before?.current.signal('KILL');
      const runs = (before?.runs ?? 0) + 1;
      const current = new Container(clock, ref, spec, runs);
      const slot = { name: ref.container, current, previous: before?.current.log, runs };
      pods.set(keyOf(ref), before ? slots.with(slots.indexOf(before), slot) : [...slots, slot]);
      return current;
    },
    remove(pod) {
      for (const { current } of pods.get(keyOf(pod)) ?? []) current.signal('KILL');
      pods.delete(keyOf(pod));
    },
    async exec(ref, options) {
      const container = running(ref);
      const found = container.find(options.command);
      if ('code' in found) throw execFailure(container, options.command[0] ?? '', found.code);
      return container.exec(found, options);
    },
    async attach(ref, options) {
      return running(ref).attach(options);
    },
    async *logs(ref, options, signal) {
      yield* logOf(pods.get(keyOf(ref)), ref, options).read(options, signal);
    },
    async dial(pod, port): Promise<Duplex> {
      const slots = pods.get(keyOf(pod));
      if (!slots) throw failure(404, 'pod does not exist');
      for (const { current } of slots) {
        const server = current.serverOf(port);
        if (server) return connectToContainer(server);
      }
      throw refused(slots, port);
    },
    stats() {
      return [...pods.values()].flatMap((slots) =>
        slots.filter(({ current }) => current.running).map(({ current }) => current.usage()),
      );
    },
  };
}

/** A pod has few: there may be tens of thousands of pods. */
function slotOf(slots: readonly Slot[], { container }: ContainerRef): Slot | undefined {
  return slots.find(({ name }) => name === container);
}

/** What containerd says of a command that it cannot start, as the kubelet passes it on. */
function execFailure(container: Container, name: string, code: 126 | 127): Error {
  const missing = name.includes('/') ? `stat ${name}: no such file or directory` : 'executable file not found in $PATH';
  const why = code === 127 ? missing : 'permission denied';
  const runc = `OCI runtime exec failed: exec failed: unable to start container process: exec: "${name}": ${why}: unknown`;
  const message = `error executing command in container: failed to exec in container: failed to start exec "${container.id}": ${runc}`;
  return failure(500, `Internal error occurred: ${message}`);
}

function logOf(slots: readonly Slot[] | undefined, ref: ContainerRef, options: LogOptions): ContainerLog {
  if (!slots) throw failure(404, `pod "${ref.pod}" does not exist`);
  const slot = slotOf(slots, ref);
  if (!slot)
    throw badRequest(`container "${ref.container}" in pod "${ref.pod}" is waiting to start: ContainerCreating`);
  const log = options.previous ? slot.previous : slot.current.log;
  if (!log) throw badRequest(`previous terminated container "${ref.container}" in pod "${ref.pod}" not found`);
  return log;
}

function refused(slots: readonly Slot[], port: number): Error {
  const id = slots[0]?.current.id ?? '';
  const v4 = `IPv4: dial tcp4 127.0.0.1:${port}: connect: connection refused`;
  const v6 = `IPv6 dial tcp6 [::1]:${port}: connect: connection refused`;
  return failure(500, `failed to connect to localhost:${port} inside namespace "${id}", ${v4} ${v6}`);
}
