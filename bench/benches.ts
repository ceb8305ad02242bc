import type { Bench } from './harness/bench.ts';

/** Every bench by its name; a bench's own code is loaded when it runs. */
export const BENCHES: Readonly<Record<string, () => Promise<Bench>>> = {
  apiserver: async () => (await import('./apiserver/apiserver.ts')).apiserverBench,
  decide: async () => (await import('./decide/decide.ts')).decideBench,
  fleet: async () => (await import('./fleet/fleet.ts')).fleetBench,
  place: async () => (await import('./place/place.ts')).placeBench,
  runtime: async () => (await import('./runtime/runtime.ts')).runtimeBench,
  sim: async () => (await import('./sim/sim.ts')).simBench,
  tunnel: async () => (await import('./tunnel/tunnel.ts')).tunnelBench,
};
