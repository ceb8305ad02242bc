import type { UserInfo } from '../authentication/user-info.ts';
import type { ApiRequest } from './api-request.ts';
import type { RequestInfo } from './request-info.ts';

/** A request that is known, authenticated and authorized. */
export interface ApiCall {
  request: ApiRequest;
  info: RequestInfo;
  user: UserInfo;
  /** Adds a `Warning: 299` header to the answer. */
  warn(text: string): void;
}
