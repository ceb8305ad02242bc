/** Work that can stop between two steps, so that a caller does something else there. */
export type Steps<T> = Generator<undefined, T, undefined>;

/** Takes all steps at once. */
export function finishSteps<T>(steps: Steps<T>): T {
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}
