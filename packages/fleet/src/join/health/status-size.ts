import { type FieldError, formatTime, type KubeObject, setCondition } from '@asterism/machinery';
import { type Cluster, GROUP } from '../../api/index.ts';

/** Bytes of JSON that the status of one object may have, by resource. Agents write them. */
export const STATUS_BYTES = {
  /** A cluster with thousands of served resources has some 200 KiB. */
  clusters: 512 * 1024,
  /** An agent reports at most 8 KiB of each object. etcd takes no larger object. */
  works: 1536 * 1024,
} as const;

export const STATUS_WITHIN_LIMIT = 'StatusWithinLimit';

/** Conditions that are kept of a status that is too large, and characters of each message. */
const KEPT_CONDITIONS = 20;
const KEPT_MESSAGE = 1_024;

/** An API server that takes such checks refuses a status that is too large with 422. */
export const STATUS_CHECKS: readonly {
  resource: string;
  subresource: 'status';
  faults: (object: KubeObject) => FieldError[];
}[] = Object.entries(STATUS_BYTES).map(([resource, limit]) => ({
  resource: `${resource}.${GROUP}`,
  subresource: 'status',
  faults: ({ status }: KubeObject & { status?: unknown }) => {
    const bytes = bytesOf(status);
    const message = `Too long: may not be more than ${limit} bytes, and has ${bytes}`;
    return bytes > limit ? [{ type: 'FieldValueTooLong', field: 'status', message }] : [];
  },
}));

/**
 * What is left of a Cluster's status that is too large: its conditions, and one that says so. Undefined where the status is within
 * the limit. For API servers that do not refuse it.
 */
export function cutStatus({ status }: Cluster, now: number): Cluster['status'] | undefined {
  const bytes = bytesOf(status);
  if (!status || bytes <= STATUS_BYTES.clusters) return undefined;
  const kept = (status.conditions ?? []).slice(0, KEPT_CONDITIONS).map((condition) => ({
    ...condition,
    message: condition.message.slice(0, KEPT_MESSAGE),
  }));
  const message =
    `the agent reported a status of ${bytes} bytes, of which the hub keeps the conditions alone (limit: ` +
    `${STATUS_BYTES.clusters} bytes): check what runs as the agent in this cluster`;
  const condition = { type: STATUS_WITHIN_LIMIT, status: 'False', reason: 'TooLarge', message } as const;
  const conditions = setCondition(kept, condition, formatTime(now));
  const { observedGeneration } = status;
  return { ...(observedGeneration === undefined ? {} : { observedGeneration }), conditions };
}

function bytesOf(status: unknown): number {
  return status === undefined ? 0 : Buffer.byteLength(JSON.stringify(status));
}
