import type { KubeObject } from '@asterism/machinery';
import type { Work } from '../../api/index.ts';
import { applyStage, LAST_STAGE } from '../../template/apply-stage.ts';

/**
 * Which Works of a cluster go before which, told by places: a place is a stage, in a namespace of the cluster or outside of all.
 *
 * A Work goes after those that stand in a place before it: of an earlier stage, and in a namespace where it has an object, or outside
 * of all. It is as late as the last of its objects, so no two Works wait for each other.
 */

/** Where others look for the Work that need it. Nobody needs what is of the last stage. */
export function placesOf(work: Work): string[] {
  const stage = stageOfWork(work);
  return stage === LAST_STAGE ? [] : scopesOf(work).map((scope) => placeIn(work, stage, scope));
}

/** Where what the Work needs would stand, the earliest stage first. */
export function placesBefore(work: Work): string[] {
  const scopes = new Set(['', ...scopesOf(work)]);
  const stages = Array.from({ length: stageOfWork(work) }, (_, stage) => stage);
  return stages.flatMap((stage) => [...scopes].map((scope) => placeIn(work, stage, scope)));
}

/** The stage of its last object. */
export function stageOfWork({ spec }: Work): number {
  return Math.max(0, ...spec.manifests.map(applyStage));
}

/** The namespaces of its objects, each once; '' is outside of all. */
function scopesOf({ spec }: Work): string[] {
  return [...new Set(spec.manifests.map(scopeOf))];
}

/** A Namespace belongs to what is in it. */
function scopeOf(manifest: KubeObject): string {
  const { namespace, name } = manifest.metadata ?? {};
  return (manifest.apiVersion === 'v1' && manifest.kind === 'Namespace' ? name : namespace) ?? '';
}

function placeIn({ metadata }: Work, stage: number, scope: string): string {
  return `${metadata.namespace}/${stage}/${scope}`;
}
