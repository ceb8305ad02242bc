import type { Task } from '../task.ts';
import type { Command } from './syntax.ts';

/** What of a shell its subshells begin with. */
export interface ShellState {
  variables: Map<string, string>;
  exported: Set<string>;
  functions: Map<string, Command>;
  positional: readonly string[];
  name: string;
  directory: string;
  /** `-e`, `-u`, `-x`. */
  flags: Set<string>;
}

/** A command in the background. */
export interface Job {
  task: Task;
  done: Promise<number>;
  ended: boolean;
}

export function copyState(state: ShellState): ShellState {
  return {
    ...state,
    variables: new Map(state.variables),
    exported: new Set(state.exported),
    functions: new Map(state.functions),
    flags: new Set(state.flags),
  };
}
