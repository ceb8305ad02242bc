import type { Node } from '@asterism/machinery';

/**
 * On a Node, with any value: its machine has lost its power. It is not heard of, nothing runs on it, and whoever asks it gets no
 * answer; without the annotation it starts again.
 */
export const FAILED_ANNOTATION = 'sim.asterism.dev/failed';

export function hasFailed(node: Node | undefined): boolean {
  return node?.metadata?.annotations?.[FAILED_ANNOTATION] !== undefined;
}
