import type { FieldRequirement } from '@asterism/machinery';
import type { UserInfo } from './user-info.ts';

/** What a user wants to do: to a resource, or (without `resource`) to a path. */
export interface AuthorizationAttributes {
  user: UserInfo;
  verb: string;
  group?: string;
  version?: string;
  resource?: string;
  subresource?: string;
  namespace?: string;
  name?: string;
  /** What a list, a watch or a deletecollection is limited to; for authorizers that look at it. */
  fieldSelector?: readonly FieldRequirement[];
  /** For requests that name no resource: `/healthz`. */
  path?: string;
}

export interface AuthorizationDecision {
  allowed: boolean;
  /** Which rule allowed it, or why nothing did. */
  reason: string;
}

/** Decides who may do what. Decisions are made from memory; a promise only for authorizers that ask another server. */
export interface Authorizer {
  /** Throws, or rejects with a `StatusError` of 5xx, where it cannot decide. */
  authorize(attributes: AuthorizationAttributes): AuthorizationDecision | Promise<AuthorizationDecision>;
}
