import type { KubeObject } from '@asterism/machinery';
import type { UserInfo } from './user-info.ts';

/** What was posted to a resource that is not stored: a review, or a request for a token. */
export interface CreationRequest {
  /** Decoded; kind and version are those of the resource. */
  object: KubeObject;
  user: UserInfo;
  namespace: string | undefined;
  /** Of the object that a subresource belongs to. */
  name: string;
}

/** Answers such a POST: the object with its status filled in. Rejects with `StatusError`. */
export type Creation = (request: CreationRequest) => Promise<KubeObject>;

/** By `group/resource` or `group/resource/subresource`. */
export type Creations = ReadonlyMap<string, Creation>;
