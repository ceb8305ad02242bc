import { createRequire } from 'node:module';

export type CelModule = typeof import('@marcbachmann/cel-js');

/** The evaluator, loaded with the first expression: most servers see none. */
export function loadCel(): CelModule {
  return createRequire(import.meta.url)('@marcbachmann/cel-js') as CelModule;
}
