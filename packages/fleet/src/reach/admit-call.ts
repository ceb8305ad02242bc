import {
  type Headers,
  identityFault,
  identityHeaders,
  type Impersonation,
  type TransportRequest,
} from '@asterism/client';
import type { Cluster } from '../api/index.ts';
import { CALLER_HEADER, readCaller } from './caller-header.ts';
import { AUTHENTICATED, SYSTEM_PREFIX } from './forwarded-identity.ts';
import { isClaim } from './forwarded-headers.ts';
import { connects, hidesSlash, type MemberCall, readMemberCall } from './member-call.ts';
import { modeFault, type ReachMode } from './reach-mode.ts';

export interface AdmitOptions {
  syncMode: Cluster['spec']['syncMode'];
  /** What callers may do; the hub's own reading is not theirs. */
  mode: ReachMode;
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
 * - (A4) Whose call it is, the hub says in {@link CALLER_HEADER}. Headers of impersonation that came along are taken out; without
 *   a caller beside them the call is refused, because it would go on in the agent's own name.
 * - (A5) What the cluster's mode does not let through is refused here too.
 * - (A7) The member reads exactly the caller that was admitted. A name that no header carries unchanged is refused.
 * - (A6) A target that is not plainly a path of this API server is refused: `http://…`, `//host`, dots, broken escapes. Those of
 *   other servers come to `admitDestination`.
 */
export function admitCall(request: TransportRequest, options: AdmitOptions): TransportRequest | { refused: string } {
  const call = readMemberCall(request.method, request.path);
  if ('fault' in call) return { refused: call.fault };
  const { headers, claimed } = withoutClaims(request.headers ?? {});
  const given = request.headers?.[CALLER_HEADER];
  if (given === undefined) {
    if (claimed) return { refused: 'the call claims to be somebody’s, and the hub does not say whose it is' };
    const fault = ownCallFault(call, options);
    return fault === undefined ? { ...request, headers } : { refused: fault };
  }
  const caller = readCaller(given);
  if (!caller) return { refused: 'it cannot be read whose call it is' };
  const upgrade = options.upgrade ? [request.headers?.['upgrade'] ?? ''].flat().join() : undefined;
  const fault = impersonationFault(caller) ?? modeFault(options.mode, call, { upgrade });
  if (fault !== undefined) return { refused: fault };
  return { ...request, headers: { ...headers, ...identityHeaders(caller) } };
}

/** Without credentials, and without what says whose call it is; `claimed`: something did that was not the hub's word. */
export function withoutClaims(given: Headers): { headers: Headers; claimed: boolean } {
  const headers: Headers = {};
  let claimed = false;
  for (const [name, value] of Object.entries(given)) {
    if (name === 'authorization' || name === 'cookie' || value === undefined) continue;
    if (isClaim(name)) claimed ||= name !== CALLER_HEADER;
    else headers[name] = value;
  }
  return { headers, claimed };
}

function impersonationFault(caller: Impersonation): string | undefined {
  const { user, groups = [] } = caller;
  if (user === '') return 'the call impersonates groups, but no user';
  if (user.startsWith(SYSTEM_PREFIX)) return `no caller of the hub may be "${user}" in this cluster`;
  const group = groups.find((name) => name.startsWith(SYSTEM_PREFIX) && name !== AUTHENTICATED);
  if (group !== undefined) return `no caller of the hub may be of the group "${group}" in this cluster`;
  const fault = identityFault(caller, 'lowered');
  return fault === undefined ? undefined : `${fault} cannot be sent to this cluster: no header carries it unchanged`;
}

function ownCallFault(call: MemberCall, { syncMode, upgrade }: AdmitOptions): string | undefined {
  if (syncMode === 'Push')
    return 'the hub has a credential of its own for this cluster: through the tunnel come callers alone';
  if (upgrade || !['get', 'head', 'list', 'watch'].includes(call.verb)) {
    return `the hub itself may only read here, not ${upgrade ? 'upgrade' : call.verb}`;
  }
  return connects(call) || hidesSlash(call) ? 'the hub itself may only read objects here' : undefined;
}
