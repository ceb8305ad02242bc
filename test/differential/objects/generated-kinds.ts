import { CLUSTER_SCOPED } from './cluster-scoped.ts';
import { CONFIGURATION } from './configuration.ts';
import type { GeneratedKind } from './generated-kind.ts';
import { SERVICES } from './services.ts';
import { WORKLOADS } from './workloads.ts';

/** Every kind whose objects are generated. */
export const GENERATED_KINDS: readonly GeneratedKind[] = [
  ...WORKLOADS,
  ...SERVICES,
  ...CONFIGURATION,
  ...CLUSTER_SCOPED,
];

export function generatedKind(kind: string): GeneratedKind {
  const found = GENERATED_KINDS.find((one) => one.kind === kind);
  if (!found) throw new Error(`no objects of kind ${kind} are generated`);
  return found;
}
