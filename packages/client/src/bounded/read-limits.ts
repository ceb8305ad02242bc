/** How much of an answer is read, and for how long. `Number.POSITIVE_INFINITY` switches one of them off. */
export interface ReadLimits {
  /** What the limits are for, in messages and in the label of a metric. */
  use: string;
  /** Bytes of the body, after decompression. */
  maxBytes: number;
  /** Milliseconds from the head of the answer to its end. */
  deadlineMs: number;
  /** Milliseconds between two pieces of the body. */
  idleMs: number;
  /** Objects and arrays inside each other in JSON. */
  maxDepth: number;
  /** JSON values in one document: objects, arrays, members and elements. */
  maxItems: number;
}

const KIB = 1024;
const MIB = 1024 * KIB;
/** SQLite reads JSON up to this depth. Kubernetes accepts more, but no API of it needs a tenth of this. */
const DEPTH = 1_000;

/** The limits for each kind of answer. `docs/reference/limits.md` lists them, and a test compares the two. */
export const READ_LIMITS = {
  /** One object, a Status, or any other JSON document. etcd takes at most 1.5 MiB by default. */
  object: limits('object', { maxBytes: 16 * MIB, deadlineMs: 60_000, idleMs: 30_000, maxItems: 1_000_000 }),
  /** One page of a list. A page that is too large is asked for again with fewer objects. */
  list: limits('list', { maxBytes: 32 * MIB, deadlineMs: 120_000, idleMs: 30_000, maxItems: 2_000_000 }),
  /** Discovery of groups and resources. */
  discovery: limits('discovery', { maxBytes: 16 * MIB, deadlineMs: 30_000, idleMs: 10_000, maxItems: 1_000_000 }),
  /** An OpenAPI document. */
  openApi: limits('openApi', { maxBytes: 32 * MIB, deadlineMs: 30_000, idleMs: 10_000, maxItems: 2_000_000 }),
  /** An admission, conversion or token review that a webhook answers. */
  webhook: limits('webhook', { maxBytes: 16 * MIB, deadlineMs: 30_000, idleMs: 30_000, maxItems: 1_000_000 }),
  /** A document of an identity provider: OIDC discovery, JSON Web Key Set, introspection. */
  identity: limits('identity', { maxBytes: 1 * MIB, deadlineMs: 5_000, idleMs: 5_000, maxItems: 100_000 }),
  /** The output of a credential plugin. */
  credential: limits('credential', { maxBytes: 4 * MIB, deadlineMs: 60_000, idleMs: 60_000, maxItems: 100_000 }),
  /** Plain text: health checks, refusals of other servers. */
  text: limits('text', { maxBytes: 256 * KIB, deadlineMs: 10_000, idleMs: 10_000, maxItems: 100_000 }),
  /** The body of an answer with status 400 or more. Only the beginning of a longer one is read. */
  error: limits('error', { maxBytes: 1 * MIB, deadlineMs: 10_000, idleMs: 10_000, maxItems: 100_000 }),
  /** One line of a watch. The watch itself has no end. */
  line: limits('line', {
    maxBytes: 16 * MIB,
    deadlineMs: Number.POSITIVE_INFINITY,
    idleMs: Number.POSITIVE_INFINITY,
    maxItems: 1_000_000,
  }),
} as const satisfies Record<string, ReadLimits>;

export type ReadUse = keyof typeof READ_LIMITS;

/** Bytes of answers of one server that are in memory at the same time. */
export const READ_BUDGET_BYTES = 64 * MIB;

/** How long a list in pages may be, all pages together. */
export interface ListLimits {
  maxPages: number;
  maxObjects: number;
  maxBytes: number;
}

/** For the objects of one kind in one cluster: those of a list, and those that an informer holds. */
export const LIST_LIMITS: ListLimits = { maxPages: 100_000, maxObjects: 1_000_000, maxBytes: 512 * MIB };

/**
 * Options of a client for a server that the same administrator runs: its own API server in the same process, its hub. Such a server may
 * answer with all that it has.
 */
export const TRUSTED_SERVER = {
  readLimits: {
    object: { maxBytes: 1024 * MIB, maxItems: 100_000_000, deadlineMs: 600_000 },
    list: { maxBytes: 1024 * MIB, maxItems: 100_000_000, deadlineMs: 600_000 },
  },
  readBudgetBytes: 4096 * MIB,
  listLimits: { maxPages: 1_000_000, maxObjects: 100_000_000, maxBytes: Number.POSITIVE_INFINITY },
} as const;

function limits(use: string, given: Omit<ReadLimits, 'use' | 'maxDepth'>): ReadLimits {
  return { use, maxDepth: DEPTH, ...given };
}
