/**
 * How soon a member's API server that says nothing counts as gone, in milliseconds: who asks through the hub, and a watch, find
 * out within half a minute. A server that is only slow answers the PINGs, and is waited for.
 */
export const MEMBER_LIVENESS = { connectTimeoutMs: 10_000, pingIdleMs: 7_500, pingTimeoutMs: 10_000 } as const;
