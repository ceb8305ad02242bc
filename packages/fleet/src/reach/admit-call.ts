import type { TransportRequest } from '@asterism/client';
import type { Cluster } from '../api/index.ts';
import { AUTHENTICATED, SYSTEM_PREFIX } from './forwarded-identity.ts';

/** Subresources behind which something else than the API answers: reading them is doing. */
const CONNECTING = new Set(['attach', 'exec', 'portforward', 'proxy']);

export interface AdmitOptions {
  syncMode: Cluster['spec']['syncMode'];
  upgrade: boolean;
}

/**
 * What an agent lets through its tunnel, whatever the hub sends: the member's own guard against a hub that is mistaken or was
 * taken over.
 *
 * - (A1) A call in somebody's name goes on, unless that is the system's: no user `system:…` (service accounts too) and no
 *   group `system:…` but `system:authenticated`, which the member gives to everybody anyway.
 * - (A2) A call in nobody's name is the hub's own, with the agent's rights: it may read, for search, and only where the hub
 *   does not hold a credential of its own (Pull and Dual). An upgrade, or a way into pods, is no reading.
 * - (A3) No credential that came along is passed on: the agent's transport adds its own.
 */
export function admitCall(request: TransportRequest, options: AdmitOptions): TransportRequest | { refused: string } {
  const headers = { ...request.headers };
  delete headers['authorization'];
  delete headers['cookie'];
  const claims = Object.keys(headers).filter((name) => name.startsWith('impersonate-') && headers[name] !== undefined);
  const fault = claims.length > 0 ? impersonationFault(headers) : ownCallFault(request, options);
  return fault === undefined ? { ...request, headers } : { refused: fault };
}

function impersonationFault(headers: NonNullable<TransportRequest['headers']>): string | undefined {
  const user = headers['impersonate-user'];
  if (typeof user !== 'string' || user === '') return 'the call impersonates groups, but no user';
  if (user.startsWith(SYSTEM_PREFIX)) return `no caller of the hub may be "${user}" in this cluster`;
  const group = [headers['impersonate-group'] ?? []]
    .flat()
    .find((name) => name.startsWith(SYSTEM_PREFIX) && name !== AUTHENTICATED);
  return group === undefined ? undefined : `no caller of the hub may be of the group "${group}" in this cluster`;
}

function ownCallFault({ method, path }: TransportRequest, { syncMode, upgrade }: AdmitOptions): string | undefined {
  if (syncMode === 'Push')
    return 'the hub has a credential of its own for this cluster: through the tunnel come callers alone';
  if (upgrade || (method !== 'GET' && method !== 'HEAD')) return `the hub itself may only read here, not ${method}`;
  return isPlainRead(path) ? undefined : 'the hub itself may only read objects here';
}

/** Whether the path is an object, a list or discovery, written plainly: what is hidden by escapes or dots is refused. */
function isPlainRead(pathWithQuery: string): boolean {
  const path = pathWithQuery.split('?', 1)[0]!;
  let segments: string[];
  try {
    segments = path.split('/').slice(1).map(decodeURIComponent);
  } catch {
    return false;
  }
  if (
    !path.startsWith('/') ||
    segments.some((segment) => segment === '.' || segment === '..' || segment.includes('/'))
  ) {
    return false;
  }
  return !segments.some((segment, index) => segment === '' && index < segments.length - 1) && !connects(segments);
}

/** `/api/v1/[namespaces/NS/]RESOURCE/NAME/SUBRESOURCE/…`, and the same below `/apis/GROUP/VERSION`. */
function connects(segments: readonly string[]): boolean {
  const rest = segments.slice(segments[0] === 'api' ? 2 : 3);
  const [, , subresource] = rest[0] === 'namespaces' && rest.length > 3 ? rest.slice(2) : rest;
  return CONNECTING.has(subresource ?? '') || rest[0] === 'proxy';
}
