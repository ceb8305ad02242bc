import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** What V8 takes as the argument of its `gc`. */
export interface Collection {
  type: 'major' | 'minor';
  execution: 'sync';
  /** `last-resort` gives what is empty back to the system. */
  flavor?: 'last-resort';
}

let collect: ((options: Collection) => void) | undefined;

/** Collects now, in a process that was not started for it, and leaves no `gc` behind in its global object. */
export function collectGarbage(collection: Collection): void {
  collect ??= lookUp();
  collect(collection);
}

function lookUp(): (options: Collection) => void {
  setFlagsFromString('--expose-gc');
  const found = runInNewContext('gc') as (options: Collection) => void;
  setFlagsFromString('--no-expose-gc');
  return found;
}
