import { failure, isStatusError, type KubeObject, objectKey } from '@asterism/machinery';
import type { Cluster } from '@asterism/runtime';
import { MANAGED_LABEL, type ManifestStatus, type Work } from '../../api/index.ts';
import { covers } from '../member/covers.ts';
import { keepScale } from '../member/keep-scale.ts';
import { applyManifest, applyNew, isForeign, whyNotOurs } from '../member/member-objects.ts';
import { labelOf, markingOf, ownerOf } from '../member/other-works.ts';
import { whyReserved } from '../member/reserved.ts';
import { takeOver } from '../member/take-over.ts';
import { type AppliedManifest, withoutFields } from '../member/undeclared-fields.ts';
import { LoopTurns } from '../pace/loop-turns.ts';
import { notApplied, observationOf, remarkOn } from '../report/manifest-status.ts';
import { memberRefusalWords } from '../report/refusal-words.ts';
import { statusOf, toldAsApplied } from '../report/told-status.ts';
import { formatManifestRef, type ManifestRef, manifestRefOf } from '../works/manifest-ref.ts';
import type { Works } from '../works/works.ts';
import type { ManagedObjects } from './managed-objects.ts';

/** A cluster that is written to, and what Works have placed there. */
export interface Member {
  cluster: Cluster;
  objects: ManagedObjects;
}

/** From which generation of a Work each object was last applied by this process, and without which fields. */
interface Applied {
  uid: string | undefined;
  objects: Map<string, { generation: number; omitted: readonly string[] }>;
}

/**
 * Makes single objects say what their manifests say.
 *
 * A1  An object is applied when the Work has changed since, or when the object does not say what the manifest says. So a restart
 *     writes nothing, and others keep the fields that are theirs.
 * A2  An object that is not ours is not taken, unless the policy says so; one that another Work has placed, never. What is taken
 *     changes only where its manifest says otherwise.
 * A3  Fields of a manifest that a member's API does not know are left out there, and the status names them. They are tried again with
 *     the next change of the Work.
 * A4  No Work writes the role that lists as whom this very account may act in the member (see whyReserved).
 * A5  What an autoscaler of the member scales, or what is labelled as scaled there, keeps its replicas (see keepScale).
 */
export class ManifestWriter {
  readonly #works: Works;
  readonly #applied = new Map<string, Applied>();
  readonly #pace = new LoopTurns();

  constructor(works: Works) {
    this.#works = works;
  }

  /** Makes the object say what the manifest says, and returns how it is. Rejects only if the member does not answer. */
  async write(member: Member, work: Work, manifest: KubeObject, signal: AbortSignal): Promise<ManifestStatus> {
    const ref = manifestRefOf(manifest);
    const { generation: observedGeneration = 0 } = work.metadata;
    try {
      const { live, omitted } = await this.#apply(member, work, manifest, signal);
      this.#appliedBy(work).set(formatManifestRef(ref), { generation: observedGeneration, omitted });
      return { ...ref, applied: true, ...remarkOn(omitted), observedGeneration, ...observationOf(live) };
    } catch (error) {
      if (!isStatusError(error)) throw error;
      const { observedGeneration: last } = statusOf(work, ref) ?? {};
      const live = last === undefined ? undefined : member.objects.known(ref);
      return notApplied(ref, last, live, `${formatManifestRef(ref)}: ${memberRefusalWords(error, ref)}`);
    }
  }

  /** Forgets what was applied for the Work with this key. */
  forget(key: string): void {
    this.#applied.delete(key);
  }

  async #apply(
    { cluster, objects }: Member,
    work: Work,
    manifest: KubeObject,
    signal: AbortSignal,
  ): Promise<AppliedManifest> {
    const ref = manifestRefOf(manifest);
    const reserved = whyReserved(ref);
    if (reserved !== undefined) throw failure(403, reserved);
    const omitted = this.#omittedFrom(work, ref);
    const type = await cluster.client.discovery.typeFor(manifest);
    const marking = markingOf(this.#works, work);
    const seen = await objects.managed(ref, signal);
    if (seen.isWatched && !seen.object && !statusOf(work, ref)) {
      const made = await applyNew(cluster, type, manifest, marking, signal);
      if (made) return made;
    }
    const live = seen.object ?? (await objects.read(ref, signal));
    const known = await keepScale(cluster, withoutFields(manifest, omitted), live, signal);
    if (live?.metadata?.labels?.[MANAGED_LABEL] === labelOf(work)) {
      if (this.#isApplied(work, ref) && (await this.#pace.run(() => covers(live, known)))) return { live, omitted };
    } else if (live) {
      const overwrite = work.spec.conflictResolution === 'Overwrite';
      const why = whyNotOurs(live, { overwrite, owner: (other) => ownerOf(this.#works, other, work) });
      if (why) throw failure(409, why);
      if (isForeign(live)) await takeOver(cluster, type, live, signal);
    }
    const applied = await applyManifest(cluster, type, known, marking, signal);
    if (!seen.isWatched) objects.isServed(ref);
    return { live: applied.live, omitted: [...omitted, ...applied.omitted] };
  }

  #isApplied(work: Work, ref: ManifestRef): boolean {
    const applied = this.#appliedBy(work).get(formatManifestRef(ref));
    return applied?.generation === work.metadata.generation || toldAsApplied(work, ref) !== undefined;
  }

  /** The fields without which this generation of the Work was applied. */
  #omittedFrom(work: Work, ref: ManifestRef): readonly string[] {
    const applied = this.#appliedBy(work).get(formatManifestRef(ref));
    return applied && applied.generation === work.metadata.generation ? applied.omitted : [];
  }

  #appliedBy(work: Work): Applied['objects'] {
    const { uid } = work.metadata;
    const key = objectKey(work);
    const present = this.#applied.get(key);
    const applied: Applied = present?.uid === uid && present ? present : { uid, objects: new Map() };
    this.#applied.set(key, applied);
    return applied.objects;
  }
}
