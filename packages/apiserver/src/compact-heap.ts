import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/**
 * Collects garbage and gives the memory back to the system: about 10 MB of what a start needed and a running server does not.
 * V8 would keep it for a load that may never come. Takes 10 to 20 ms, in which nothing else runs: for whoever starts a server,
 * once, when it is up.
 */
export function compactHeap(): void {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as (options: object) => void;
  setFlagsFromString('--no-expose-gc');
  collect({ type: 'major', execution: 'sync', flavor: 'last-resort' });
}
