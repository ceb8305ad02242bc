import type { ApiResponse, ExtensionContext } from '@asterism/apiserver';
import { type Clock, relayedAnswer, tapBytes, type TransportRequest } from '@asterism/client';
import type { CallRecord } from './call-record.ts';
import { requestHeaders } from './forwarded-headers.ts';
import { sendAsCaller } from './refused-impersonation.ts';
import type { WayInto } from './way-into.ts';

/** The call to a member, or a destination behind it, that a caller's call to `…/NAME/proxy/…` stands for. */
export function memberRequest(
  { request }: Pick<ExtensionContext, 'request'>,
  { identity, tunnelled, path }: Pick<WayInto, 'identity' | 'tunnelled' | 'path'>,
  { upgrade, long }: { upgrade: boolean; long: boolean },
): TransportRequest {
  const { method, headers } = request;
  return {
    method,
    path,
    headers: requestHeaders(headers, identity, { upgrade, tunnelled }),
    long,
    signal: request.signal,
  };
}

/** Passes a call on and its answer back, bytes as they are: nothing is decoded, gathered or kept. */
export async function proxyCall(
  context: ExtensionContext,
  way: WayInto,
  { record, clock, onEnd }: { record: CallRecord; clock: Clock; onEnd: () => void },
): Promise<ApiResponse> {
  const { headers, method, bodyStream } = context.request;
  const hasBody = headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined;
  const bodiless = method === 'GET' || method === 'HEAD';
  const countIn = (bytes: number): void => {
    record.bytesIn += bytes;
  };
  const sends = hasBody || !bodiless;
  const sent = memberRequest(context, way, { upgrade: false, long: record.follows });
  const send = () =>
    way.transport.request({
      ...sent,
      ...(sends ? { body: tapBytes(bodyStream, { onBytes: countIn }) } : {}),
    });
  const given = await sendAsCaller<never>(send, {
    clusterName: context.name ?? '',
    destination: way.destination,
    username: way.identity.user,
    replayable: !sends,
    clock,
    signal: context.request.signal,
  });
  const { status, headers: passed, body, bytes } = relayedAnswer(given, { method, ...relayOf(context, way) });
  record.answered({ status });
  const onBytes = (bytes: number): void => {
    record.bytesOut += bytes;
  };
  if (bytes) {
    onBytes(bytes.length);
    onEnd();
  }
  return {
    status,
    headers: status === 403 ? withWarning(passed, way.leftOut) : passed,
    body: bytes ?? tapBytes(body, { onBytes, onEnd }),
    openEnded: record.follows,
  };
}

/** Where a `location` of an answer leads: below the proxy. A destination may name itself by its whole URL. */
export function relayOf({ request, rest }: ExtensionContext, { destination }: Pick<WayInto, 'destination'>) {
  const root = request.path.slice(0, request.path.length - rest.length);
  // The destination is named behind the proxy: `/https/HOST:PORT`.
  if (destination === undefined) return { root };
  const [, scheme = '', host = ''] = rest.split('/');
  return { root: `${root}/${scheme}/${host}`, origin: `${scheme}://${host}` };
}

/** How many groups a warning names. */
const MAX_NAMED = 5;

/** A refusal of the member's may be for a group that the caller has in the hub alone: it shall not have to guess. */
function withWarning(headers: ApiResponse['headers'], leftOut: readonly string[]): ApiResponse['headers'] {
  if (leftOut.length === 0) return headers;
  const named = leftOut.slice(0, MAX_NAMED).map((group) => group.replaceAll(/[^\x20-\x7e]|["\\]/g, '?'));
  const more = leftOut.length > MAX_NAMED ? ` and ${leftOut.length - MAX_NAMED} more` : '';
  const text = `these groups of yours are not known to this cluster (spec.reach.groups of its Cluster): ${named.join(', ')}${more}`;
  return { ...headers, warning: [...[headers['warning'] ?? []].flat(), `299 - "${text}"`] };
}
