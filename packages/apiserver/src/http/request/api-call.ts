import type { KubeObject } from '@asterism/machinery';
import type { AuditedCall } from '../extension/api-extension.ts';
import type { UserInfo } from '../../contract/user-info.ts';
import type { ApiRequest } from '../../contract/api-request.ts';
import type { RequestInfo } from '../../contract/request-info.ts';

/** Adds to the audit event of a call while the call is served. */
export interface CallAudit {
  /** The first value of a key counts. */
  annotate(key: string, value: string): void;
  /** The object that was sent says what the path does not. */
  object(object: KubeObject): void;
  /** For an extension. */
  ofHandler(): AuditedCall;
}

/** A request that is known, authenticated and authorized. */
export interface ApiCall {
  request: ApiRequest;
  info: RequestInfo;
  user: UserInfo;
  /** Adds a `Warning: 299` header to the answer. */
  warn(text: string): void;
  /** By which other servers that have to do with it know it too. */
  auditId?: string;
  /** Undefined if the audit log is not told of it. */
  audit?: CallAudit | undefined;
}
