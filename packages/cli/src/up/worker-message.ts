/** Run this unit. */
export interface ToWorker<Config> {
  unit: string;
  config: Config;
}

/** A unit works, with what others need to know of it; or it cannot, and why. */
export type ToParent<Ready> =
  | { unit: string; type: 'ready'; ready: Ready }
  | { unit: string; type: 'failed'; message: string };
