import { deepEqual, type ResourceType } from '@asterism/machinery';
import type { Policy } from '../match-policy.ts';
import { type Access, formatAccess, placing, reading, READING_EVERYTHING } from './access.ts';
import type { AccessReviews } from './access-reviews.ts';
import { readAuthor } from './author.ts';
import type { KnownWriters } from './known-writers.ts';
import { formatSubject, type Subject } from './subject.ts';

/** What the rights of a policy's author allow for one template. */
export interface Judgement {
  /** For whom the policy places. */
  authority: string;
  /** Whether that is the recorded author of the policy. */
  recorded: boolean;
  /** Why the template must not be placed anywhere, if it must not. */
  unread: string | undefined;
  /** By cluster, why the template must not be placed there. */
  refusals: ReadonlyMap<string, string>;
  /** The clusters where the policy must not place anything; undefined if there are none. */
  unplaceable?: Unplaceable | undefined;
}

/** Clusters without the right to place: a binding does not name them. */
export interface Unplaceable {
  clusters: ReadonlySet<string>;
  /** The right that is missing there, and who lacks it. It names no cluster. */
  missing: string;
}

/** A right that a subject lacks in whose name a policy places. */
interface Lack {
  /** `user "alice"`; or, if no author is known, also by which right the subject counts. */
  who: string;
  needed: Access;
}

/** An object that is placed. */
export interface ReadTarget {
  type: ResourceType;
  namespace: string | undefined;
  name: string;
}

export interface PlacingRightsOptions {
  reviews: AccessReviews;
  writers: Pick<KnownWriters, 'of'>;
  /**
   * Whether the API server records who writes a policy, in a way that the writer cannot forge. If it does not, a policy has the rights
   * that all have in common who may write it.
   */
  authorsRecorded: boolean;
}

interface About {
  subjects: readonly Subject[];
  clusters: readonly string[];
  signal: AbortSignal;
}

interface KnownRefusals extends Omit<About, 'signal'> {
  epoch: number;
  refusals: ReadonlyMap<string, string>;
  unplaceable: Unplaceable | undefined;
}

/**
 * Answers what a policy may place, and where.
 *
 * G1  A policy has the rights of its author: to place in a cluster (`place` on `clusters`), and to read (`get`) every object that it
 *     selects or that follows one.
 * G2  If no author is recorded, everybody who may write the policy must have the right.
 */
export class PlacingRights {
  readonly #options: PlacingRightsOptions;
  readonly #authors = new WeakMap<Policy, Subject[]>();
  readonly #refusals = new WeakMap<Policy, KnownRefusals>();

  constructor(options: PlacingRightsOptions) {
    this.#options = options;
  }

  async judge(
    policy: Policy,
    target: ReadTarget,
    clusters: readonly string[],
    signal: AbortSignal,
  ): Promise<Judgement> {
    const { subjects, recorded } = await this.#subjectsOf(policy, signal);
    const unread = await this.whyUnread(policy, target, signal);
    const [author] = subjects;
    const authority = recorded && author ? formatSubject(author) : writersText(policy);
    const placing = await this.#refusalsOf(policy, { subjects, clusters, signal });
    const refusals = unread === undefined ? placing.refusals : new Map(clusters.map((name) => [name, unread]));
    return { authority, recorded, unread, refusals, unplaceable: placing.unplaceable };
  }

  /** Where the policy must not place anything. */
  async unplaceable(
    policy: Policy,
    clusters: readonly string[],
    signal: AbortSignal,
  ): Promise<Unplaceable | undefined> {
    const { subjects } = await this.#subjectsOf(policy, signal);
    return (await this.#refusalsOf(policy, { subjects, clusters, signal })).unplaceable;
  }

  /** The same for every template of the policy, until a right or the clusters change. */
  async #refusalsOf(policy: Policy, { subjects, clusters, signal }: About): Promise<KnownRefusals> {
    const { epoch } = this.#options.reviews;
    const known = this.#refusals.get(policy);
    if (known?.epoch === epoch && known.subjects === subjects && deepEqual(known.clusters, clusters)) return known;
    const refusals = new Map<string, string>();
    let who: string | undefined;
    const anywhere = await this.#missing(policy, [placing()], signal);
    for (const name of anywhere === undefined ? [] : clusters) {
      const lack = await this.#missing(policy, [placing(), placing(name)], signal);
      if (lack === undefined) continue;
      who ??= lack.who;
      refusals.set(name, formatLack(lack));
    }
    const missing = `${who} needs ${formatAccess(placing())}`;
    const unplaceable = who === undefined ? undefined : { clusters: new Set(refusals.keys()), missing };
    const found = { epoch, subjects, clusters, refusals, unplaceable };
    this.#refusals.set(policy, found);
    return found;
  }

  /** Why the policy must not take the object along; undefined if it may. */
  async whyUnread(policy: Policy, target: ReadTarget, signal: AbortSignal): Promise<string | undefined> {
    const lack = await this.#missing(policy, readingOf(target), signal);
    return lack && formatLack(lack);
  }

  /** The right that somebody lacks in whose name the policy places: the last of `accesses`, any of which is enough. */
  async #missing(policy: Policy, accesses: readonly Access[], signal: AbortSignal): Promise<Lack | undefined> {
    const { subjects, recorded } = await this.#subjectsOf(policy, signal);
    const needed = accesses.at(-1) ?? placing();
    for (const subject of subjects) {
      if (await this.#options.reviews.allowedByAny(subject, accesses, signal)) continue;
      const also = recorded ? '' : ` ${mayWrite(policy)} and`;
      return { who: `${formatSubject(subject)}${also}`, needed };
    }
    return undefined;
  }

  async #subjectsOf(policy: Policy, signal: AbortSignal): Promise<{ subjects: readonly Subject[]; recorded: boolean }> {
    const { authorsRecorded, writers } = this.#options;
    const author = authorsRecorded ? this.#authorOf(policy) : undefined;
    if (author) return { subjects: author, recorded: true };
    return { subjects: await writers.of(policy, signal), recorded: false };
  }

  #authorOf(policy: Policy): readonly Subject[] | undefined {
    const known = this.#authors.get(policy);
    if (known) return known;
    const author = readAuthor(policy);
    if (!author) return undefined;
    const subjects = [author];
    this.#authors.set(policy, subjects);
    return subjects;
  }
}

/** From the widest right to the narrowest. */
function readingOf({ type, namespace, name }: ReadTarget): Access[] {
  return [READING_EVERYTHING, reading(type, { namespace }), reading(type, { namespace, name })];
}

function formatLack({ who, needed }: Lack): string {
  return `${who} ${mayNot(needed)}: needs ${formatAccess(needed)}`;
}

function mayNot({ verb, resource, name }: Access): string {
  if (verb !== 'get')
    return name === undefined ? 'may not place in every cluster' : `may not place in cluster "${name}"`;
  return `may not read ${resource}${name === undefined ? '' : ` "${name}"`}`;
}

function mayWrite({ metadata: { namespace } }: Policy): string {
  return namespace === undefined
    ? 'may write ClusterPropagationPolicies'
    : `may write PropagationPolicies in namespace "${namespace}"`;
}

/** The authority of a policy whose author nobody has recorded. */
export function writersText({ metadata: { namespace } }: Policy): string {
  return namespace === undefined
    ? 'all who may write ClusterPropagationPolicies'
    : `all who may write PropagationPolicies in namespace "${namespace}"`;
}
