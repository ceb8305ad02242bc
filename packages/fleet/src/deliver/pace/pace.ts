/** Lets other work of the process run between the steps of long computations. */
export interface Pace {
  /** Takes a step as soon as it may be taken: at once, if there is time. Settles as the step does. */
  run<T>(step: () => T | Promise<T>): Promise<T>;
}

/** For a process that has nothing else to do, such as a command. */
export const NO_PACE: Pace = { run: async (step) => step() };
