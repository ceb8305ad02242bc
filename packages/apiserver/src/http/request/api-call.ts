import type { AuditedRequest } from '../../audit/audited-request.ts';
import type { UserInfo } from '../../authentication/user-info.ts';
import type { ApiRequest } from './api-request.ts';
import type { RequestInfo } from './request-info.ts';

/** A request that is known, authenticated and authorized. */
export interface ApiCall {
  request: ApiRequest;
  info: RequestInfo;
  user: UserInfo;
  /** Adds a `Warning: 299` header to the answer. */
  warn(text: string): void;
  /** By which other servers that have to do with it know it too. */
  auditId?: string;
  /** Where the audit log is told of it; undefined where it is not. */
  audit?: Pick<AuditedRequest, 'annotate' | 'object' | 'ofHandler'> | undefined;
}
