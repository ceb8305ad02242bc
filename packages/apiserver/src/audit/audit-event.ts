import type { Status } from '@asterism/machinery';
import type { UserInfo } from '../contract/user-info.ts';
import { firstHeader } from '../contract/first-header.ts';
import type { ApiRequest, Headers } from '../contract/api-request.ts';
import type { RequestInfo } from '../contract/request-info.ts';
import type { AuditLevel, AuditStage } from './audit-policy.ts';
import { sourceAddresses } from './source-addresses.ts';

const MAX_USER_AGENT = 1024;

/** What a request is aimed at. */
export interface ObjectReference {
  resource?: string;
  namespace?: string;
  name?: string;
  uid?: string;
  apiGroup?: string;
  apiVersion?: string;
  resourceVersion?: string;
  subresource?: string;
}

/** `metav1.Status`, as events have it. */
export type ResponseStatus = Partial<Pick<Status, 'status' | 'message' | 'reason' | 'details' | 'code'>> & {
  metadata: object;
};

/** `audit.k8s.io/v1` Event, its fields in upstream's order. */
export interface AuditEvent {
  kind: 'Event';
  apiVersion: 'audit.k8s.io/v1';
  level: AuditLevel;
  auditID: string;
  stage: AuditStage;
  requestURI: string;
  verb: string;
  user: Partial<UserInfo>;
  impersonatedUser: Partial<UserInfo> | undefined;
  sourceIPs: string[] | undefined;
  userAgent: string | undefined;
  objectRef: ObjectReference | undefined;
  responseStatus: ResponseStatus | undefined;
  requestObject: unknown;
  responseObject: unknown;
  requestReceivedTimestamp: string;
  stageTimestamp: string;
  annotations: Record<string, string> | undefined;
}

/** The event of a request that has just come. */
export function newAuditEvent(
  request: ApiRequest,
  info: RequestInfo,
  facts: { level: AuditLevel; auditId: string; user: UserInfo | undefined; received: string },
): AuditEvent {
  const addresses = sourceAddresses(request);
  return {
    kind: 'Event',
    apiVersion: 'audit.k8s.io/v1',
    level: facts.level,
    auditID: facts.auditId,
    stage: 'RequestReceived',
    requestURI: requestUri(request),
    verb: info.verb,
    user: facts.user === undefined ? {} : describeUser(facts.user),
    impersonatedUser: undefined,
    sourceIPs: addresses.length === 0 ? undefined : addresses,
    userAgent: userAgentOf(request.headers),
    objectRef: info.isResource ? referenceOf(info) : undefined,
    responseStatus: undefined,
    requestObject: undefined,
    responseObject: undefined,
    requestReceivedTimestamp: facts.received,
    stageTimestamp: facts.received,
    annotations: undefined,
  };
}

export function describeUser({ username, uid, groups, extra }: UserInfo): Partial<UserInfo> {
  return {
    username,
    ...(uid === undefined || uid === '' ? {} : { uid }),
    ...(groups.length === 0 ? {} : { groups }),
    ...(extra === undefined || Object.keys(extra).length === 0 ? {} : { extra }),
  };
}

/** A token that somebody wrote into the address, where none is looked for, is not passed on to whoever reads the log. */
function requestUri({ path, query }: ApiRequest): string {
  if (query.size === 0) return path;
  if (!query.has('access_token')) return `${path}?${query.toString()}`;
  const shown = new URLSearchParams(query);
  shown.set('access_token', 'REDACTED');
  return `${path}?${shown.toString()}`;
}

function userAgentOf(headers: Headers): string | undefined {
  const text = firstHeader(headers, 'user-agent');
  if (text === undefined || text === '') return undefined;
  return text.length > MAX_USER_AGENT ? `${text.slice(0, MAX_USER_AGENT)}...TRUNCATED` : text;
}

function referenceOf({ resource, namespace, name, group, version, subresource }: RequestInfo): ObjectReference {
  return {
    resource,
    ...(namespace === '' ? {} : { namespace }),
    ...(name === '' ? {} : { name }),
    ...(group === '' ? {} : { apiGroup: group }),
    apiVersion: version,
    ...(subresource === '' ? {} : { subresource }),
  };
}
