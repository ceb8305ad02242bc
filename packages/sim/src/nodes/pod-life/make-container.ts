import type { Clock } from '@asterism/client';
import type { Container, Pod } from '@asterism/machinery';
import type { RuntimeContainer } from '../../machine/container-runtime.ts';
import { createSharedNode, type DirectoryNode, type RegularNode } from '../../machine/file-system.ts';
import { namesProgram } from '../../machine/names-program.ts';
import { expandVariables } from './expand-variables.ts';
import { imageCommand } from './image-rule.ts';

type SharedNodes = Map<string, DirectoryNode | RegularNode>;

const NO_FILES: ReadonlyMap<string, Uint8Array> = new Map();

/** A container as the runtime takes it, without its mounts. */
export function makeContainer(pod: Pod, container: Container, env: Readonly<Record<string, string>>): RuntimeContainer {
  const plain = (texts: readonly string[] = []): string[] =>
    texts.map((text) => expandVariables(text, (name) => env[name]));
  return {
    podUid: pod.metadata?.uid ?? '',
    image: container.image ?? '',
    command: commandOf(container, plain(container.command), plain(container.args)),
    env,
    workingDir: container.workingDir || '/',
    tty: container.tty === true,
    stdin: container.stdin === true,
    ports: (container.ports ?? []).map(({ containerPort }) => containerPort),
    files: NO_FILES,
    hostname: pod.spec?.hostname || (pod.metadata?.name ?? '').slice(0, 63),
  };
}

/** Arguments alone are a command where they name a program: such images have no entry point of their own. */
function commandOf({ image = '' }: Container, command: string[], args: string[]): readonly string[] {
  if (command.length > 0) return [...command, ...args];
  if (namesProgram(args)) return args;
  return args.length > 0 ? [] : imageCommand(image);
}

/** Whether something runs in it that may look at its files. */
export function looksAtFiles({ command }: RuntimeContainer, { lifecycle, ...container }: Container): boolean {
  const checks = [lifecycle?.postStart, lifecycle?.preStop, container.livenessProbe, container.readinessProbe];
  return namesProgram(command) || [...checks, container.startupProbe].some((check) => check?.exec !== undefined);
}

/** The directories that a pod's containers write to: one for each volume that is not filled from elsewhere. */
export class PodDirectories {
  readonly #clock: Clock;
  readonly #volumes = new Map<string, DirectoryNode>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** What a container mounts of them, and where it leaves its last words. */
  of(pod: Pod, container: Container): SharedNodes {
    const now = this.#clock.wall().getTime();
    const nodes: SharedNodes = new Map();
    nodes.set(terminationPath(container), createSharedNode('file', now));
    for (const { name, mountPath, subPath = '' } of container.volumeMounts ?? []) {
      const volume = pod.spec?.volumes?.find((each) => each.name === name);
      if (!volume || volume.configMap || volume.secret || volume.projected || volume.downwardAPI) continue;
      let node = this.#volumes.get(name) ?? newDirectory(now);
      this.#volumes.set(name, node);
      for (const step of subPath.split('/').filter((each) => each !== '')) node = within(node, step, now);
      nodes.set(mountPath, node);
    }
    return nodes;
  }
}

export function terminationPath({ terminationMessagePath }: Container): string {
  return terminationMessagePath || '/dev/termination-log';
}

function newDirectory(now: number): DirectoryNode {
  return createSharedNode('directory', now);
}

function within(directory: DirectoryNode, name: string, now: number): DirectoryNode {
  const there = directory.entries.get(name);
  if (there?.kind === 'directory') return there;
  const made = newDirectory(now);
  directory.entries.set(name, made);
  return made;
}
