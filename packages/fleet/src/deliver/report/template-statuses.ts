import { isInvalid, isStatusError, type KubeObject, type StatusError } from '@asterism/machinery';
import type { Cluster } from '@asterism/runtime';
import type { MemberReport } from '../interpret/aggregation.ts';
import { sameStatus } from './binding-status.ts';
import { OwnWrites } from './own-writes.ts';
import { patchStatus } from './patch-status.ts';

/**
 * Writes the statuses of templates, and knows which it has written: caches are behind, and an API server may keep less of a status than
 * it was given.
 */
export class TemplateStatuses {
  readonly #cluster: Cluster;
  /** Templates may be in another API server than the requests' objects, so the runtime does not wait for these writes. */
  readonly #written = new OwnWrites<KubeObject>(({ metadata }) => metadata?.uid ?? '');
  /** By template, the status that it was given last, and what its API server kept of it: an older one does not know every field. */
  readonly #given = new Map<string, { status: object; kept: unknown }>();
  /** Statuses that a cluster reported and the template's API server refuses. */
  readonly #distrusted = new WeakSet<object>();

  /** `cluster` holds the templates. */
  constructor(cluster: Cluster) {
    this.#cluster = cluster;
  }

  /** The newer of the two: the template as it is in the cache, or as it was written last. */
  latest(template: KubeObject): KubeObject {
    return this.#written.latest(template);
  }

  /** Whether the template's status is what its API server makes of this one. */
  says(template: KubeObject, status: object): boolean {
    if (sameStatus(template['status'], status)) return true;
    const given = this.#given.get(uidOf(template));
    return given !== undefined && sameStatus(given.status, status) && sameStatus(given.kept, template['status']);
  }

  /**
   * Writes the status of a template. It is no error if the template is gone or its kind has no status. A status that the API server
   * finds invalid, as if its definition requires what clusters do not agree on, is not offered again.
   *
   * @returns why the status was not taken
   */
  async write(template: KubeObject, status: object, signal: AbortSignal): Promise<string | undefined> {
    try {
      const written = await this.#patch(template, status, { signal });
      if (written) this.#written.remember(written);
      this.#given.set(uidOf(template), { status, kept: (written ?? template)['status'] });
    } catch (error) {
      if (!isRefusedStatus(error)) throw error;
      this.#given.set(uidOf(template), { status, kept: template['status'] });
      return error.message;
    }
  }

  /** Whether the template's API server would take this status. */
  async wouldTake(template: KubeObject, status: object, signal: AbortSignal): Promise<boolean> {
    try {
      await this.#patch(template, status, { signal, dryRun: true });
      return true;
    } catch (error) {
      if (!isRefusedStatus(error)) throw error;
      return false;
    }
  }

  /** Leaves the status of this report out from now on: the template's API server refuses it. */
  distrust({ status }: MemberReport): void {
    if (status) this.#distrusted.add(status);
  }

  /** The report, without a status that is distrusted. */
  trusted(report: MemberReport): MemberReport {
    const isDistrusted = report.status !== undefined && this.#distrusted.has(report.status);
    return isDistrusted ? { ...report, status: undefined, current: false } : report;
  }

  /** The template is gone. */
  forget(template: KubeObject): void {
    this.#written.forget(uidOf(template));
    this.#given.delete(uidOf(template));
  }

  async #patch(template: KubeObject, status: object, options: { signal: AbortSignal; dryRun?: true }) {
    const { client } = this.#cluster;
    return await patchStatus(client, await client.discovery.typeFor(template), template, status, options);
  }
}

/** It is not valid, or cannot be read as a status of the kind. */
function isRefusedStatus(error: unknown): error is StatusError {
  return isInvalid(error) || (isStatusError(error) && error.code === 400);
}

function uidOf({ metadata }: KubeObject): string {
  return metadata?.uid ?? '';
}
