import type { Pod } from '@asterism/machinery';
import { CommandError } from '../exit-code.ts';

const DEFAULT_CONTAINER = 'kubectl.kubernetes.io/default-container';

/**
 * The container of a pod that is meant: the one that is named, or that the pod's annotation names, or the first; where there are
 * others too that is noted. Throws where there is none of that name.
 */
export function chooseContainer(pod: Pod, named: string | undefined, note: (line: string) => void): string {
  const all = containersOf(pod);
  const name = pod.metadata?.name ?? '';
  if (named !== undefined) {
    if (all.includes(named)) return named;
    throw new CommandError(`pod ${name} has no container ${JSON.stringify(named)}: it has ${all.join(', ')}`);
  }
  const annotated = pod.metadata?.annotations?.[DEFAULT_CONTAINER];
  if (annotated !== undefined && all.includes(annotated)) return annotated;
  const [first = ''] = pod.spec?.containers.map((container) => container.name) ?? [];
  if (all.length > 1) note(`Defaulted container "${first}" out of: ${all.join(', ')}`);
  return first;
}

/** Those that run first, those that start it, and those that look into it. */
export function containersOf({ spec }: Pod): string[] {
  const { containers = [], initContainers = [], ephemeralContainers = [] } = spec ?? {};
  return [...containers, ...initContainers, ...ephemeralContainers].map(({ name }) => name);
}
