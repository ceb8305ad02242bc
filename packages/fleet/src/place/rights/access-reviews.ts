import type { Client } from '@asterism/client';
import { SUBJECT_ACCESS_REVIEWS } from '@asterism/machinery';
import type { Access } from './access.ts';
import type { Subject } from './subject.ts';

/** Whether a subject has a right. Rejects where that cannot be found out. */
export type Authorize = (subject: Subject, access: Access, signal: AbortSignal) => Promise<boolean>;

/** Asks the API server itself (SubjectAccessReview). */
export function authorizeBy(client: Client): Authorize {
  return async ({ username, groups, uid, extra }, { verb, group, resource, namespace, name }, signal) => {
    const spec = {
      ...(username ? { user: username } : {}),
      ...(uid ? { uid } : {}),
      groups: [...groups],
      ...(extra ? { extra: Object.fromEntries(Object.entries(extra).map(([key, all]) => [key, [...all]])) } : {}),
      resourceAttributes: {
        verb,
        group,
        resource,
        ...(namespace === undefined ? {} : { namespace }),
        ...(name === undefined ? {} : { name }),
      },
    };
    const { status } = await client.resource(SUBJECT_ACCESS_REVIEWS).create({ spec }, { signal });
    return status?.allowed === true;
  };
}

interface Answer {
  subject: Subject;
  access: Access;
  allowed: boolean;
}

/** Answers kept at most: an author who may place in some of 1000 clusters takes 1000. */
const MAX_ANSWERS = 20_000;
/** Questions that {@link AccessReviews.recheck} asks at once. */
const RECHECKS_AT_ONCE = 4;

/**
 * Rights of subjects, each asked for once.
 *
 * A1  An answer holds until `recheck` finds another one; so decisions cost no question while no right changes.
 * A2  A question that fails is asked again by the next decision. Nothing is decided by it.
 * A3  There is a limit to the answers that are kept: beyond it the oldest are forgotten.
 */
export class AccessReviews {
  readonly #authorize: Authorize;
  readonly #answers = new Map<string, Answer>();
  readonly #asking = new Map<string, Promise<boolean>>();
  readonly #limit: number;
  #epoch = 0;

  constructor(authorize: Authorize, limit = MAX_ANSWERS) {
    this.#authorize = authorize;
    this.#limit = limit;
  }

  /** Another number after each change of an answer. */
  get epoch(): number {
    return this.#epoch;
  }

  allowed(subject: Subject, access: Access, signal: AbortSignal): Promise<boolean> {
    const key = keyOf(subject, access);
    const known = this.#answers.get(key);
    if (known) return Promise.resolve(known.allowed);
    const underway = this.#asking.get(key);
    if (underway) return underway;
    const asking = this.#ask(key, subject, access, signal).finally(() => this.#asking.delete(key));
    this.#asking.set(key, asking);
    return asking;
  }

  /** Whether the subject has one of the rights. The widest comes first: mostly no other is asked for then. */
  async allowedByAny(subject: Subject, accesses: readonly Access[], signal: AbortSignal): Promise<boolean> {
    for (const access of accesses) if (await this.allowed(subject, access, signal)) return true;
    return false;
  }

  /**
   * Asks again for every answer.
   *
   * @returns whether any of them has changed
   */
  async recheck(signal: AbortSignal): Promise<boolean> {
    const waiting = [...this.#answers];
    let changed = false;
    const work = async (): Promise<void> => {
      for (let next = waiting.pop(); next; next = waiting.pop()) {
        const [key, answer] = next;
        const same = (): boolean => answer.allowed; // an API server that does not respond takes no right away
        const allowed = await this.#authorize(answer.subject, answer.access, signal).catch(same);
        if (allowed === answer.allowed) continue;
        changed = true;
        this.#epoch += 1;
        this.#answers.set(key, { ...answer, allowed });
      }
    };
    await Promise.all(Array.from({ length: RECHECKS_AT_ONCE }, work));
    return changed;
  }

  async #ask(key: string, subject: Subject, access: Access, signal: AbortSignal): Promise<boolean> {
    const allowed = await this.#authorize(subject, access, signal);
    const [oldest] = this.#answers.keys();
    if (oldest !== undefined && this.#answers.size >= this.#limit) this.#answers.delete(oldest);
    this.#answers.set(key, { subject, access, allowed });
    return allowed;
  }
}

const subjectKeys = new WeakMap<Subject, string>();

function keyOf(subject: Subject, { verb, group, resource, namespace, name }: Access): string {
  let key = subjectKeys.get(subject);
  if (key === undefined) {
    const { username, uid, groups, extra } = subject;
    subjectKeys.set(subject, (key = JSON.stringify([username, uid, groups, extra])));
  }
  return `${key}${JSON.stringify([verb, group, resource, namespace, name])}`;
}
