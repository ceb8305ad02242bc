import type { Impersonation } from './connection.ts';
import type { Headers } from './transport.ts';

/** The headers of user impersonation; several groups are several headers. Keys of `extra` are percent-encoded. */
export function impersonationHeaders({ user, groups, uid, extra }: Impersonation): Headers {
  const headers: Headers = { 'impersonate-user': user };
  if (uid) headers['impersonate-uid'] = uid;
  if (groups && groups.length > 0) headers['impersonate-group'] = [...groups];
  for (const [key, values] of Object.entries(extra ?? {})) {
    headers[`impersonate-extra-${encodeHeaderName(key)}`] = [...values];
  }
  return headers;
}

/** What a header name (a token of RFC 9110) cannot hold in percent-encoding, and all in lower case, as HTTP/2 wants it. */
function encodeHeaderName(key: string): string {
  return encodeURIComponent(key).replaceAll('(', '%28').replaceAll(')', '%29').toLowerCase();
}
