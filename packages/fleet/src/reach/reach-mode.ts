import type { Cluster } from '../api/index.ts';
import type { DestinationCall } from './destination-call.ts';
import { connects, hidesSlash, type MemberCall } from './member-call.ts';

/** What the hub's callers may do in a member, as far as it is not for the member's RBAC to say. */
export type ReachMode = NonNullable<NonNullable<Cluster['spec']['reach']>['mode']>;

export const DEFAULT_REACH_MODE: ReachMode = 'impersonate';

const STRICTNESS: readonly ReachMode[] = ['impersonate', 'readonly', 'off'];

/** Paths that name no resource and that readers need: what there is, and whether it is well. */
const FOR_READERS = /^\/($|api(\/|$)|apis(\/|$)|openapi\/|version\/?$|(healthz|livez|readyz)(\/|$))/;

/** Reviews that are created to be answered, and tell the caller about itself alone. */
const SELF_REVIEWS: ReadonlySet<string> = new Set([
  'authentication.k8s.io/selfsubjectreviews',
  'authorization.k8s.io/selfsubjectaccessreviews',
  'authorization.k8s.io/selfsubjectrulesreviews',
]);

/** The stricter of two; the one that there is, where there is one. */
export function stricterMode(a: ReachMode | undefined, b: ReachMode | undefined): ReachMode {
  const rank = (mode: ReachMode | undefined): number => (mode === undefined ? 0 : STRICTNESS.indexOf(mode));
  // A mode of a newer hub is not known here: as strict as can be, rather than open.
  const worst = Math.max(...[a, b].map((mode) => (rank(mode) < 0 ? STRICTNESS.length - 1 : rank(mode))));
  return STRICTNESS[worst] ?? 'off';
}

/**
 * Why the mode does not let a call through; undefined where it does.
 *
 * - `impersonate`: the member's RBAC decides alone.
 * - `readonly`: get, list and watch, logs, discovery, OpenAPI and health, and the reviews by which one asks about oneself. No
 *   way into pods, nodes and Services, and no token: with these one does more than read. Of a destination GET and HEAD.
 * - `off`: nothing.
 */
export function modeFault(
  mode: ReachMode,
  call: MemberCall | DestinationCall,
  options: { upgrade?: string | undefined },
): string | undefined {
  if (mode === 'impersonate') return undefined;
  if (mode === 'off') return 'its spec.reach.mode is "off"';
  return isReading(call, options.upgrade)
    ? undefined
    : `its spec.reach.mode is "readonly", and this is "${toldAs(call)}"`;
}

function isReading(call: MemberCall | DestinationCall, upgrade: string | undefined): boolean {
  if ('destination' in call) return upgrade === undefined && (call.verb === 'get' || call.verb === 'head');
  const { verb, target, path } = call;
  if (connects(call) || hidesSlash(call)) return false;
  // A watch and a pod's log may come over a WebSocket. Any other upgrade is more than reading, whatever its query asks for.
  const follows = (verb === 'watch' && target?.subresource === '') || (verb === 'get' && isLog(target));
  if (upgrade !== undefined && !(follows && upgrade.toLowerCase() === 'websocket')) return false;
  if (!target) return (verb === 'get' || verb === 'head') && FOR_READERS.test(path);
  if (verb === 'get' || verb === 'list' || verb === 'watch') return true;
  return (
    verb === 'create' &&
    target.name === '' &&
    target.namespace === '' &&
    SELF_REVIEWS.has(`${target.group}/${target.resource}`)
  );
}

function isLog(target: MemberCall['target']): boolean {
  return target?.group === '' && target.resource === 'pods' && target.subresource === 'log';
}

function toldAs(call: MemberCall | DestinationCall): string {
  if ('destination' in call) return `${call.verb} ${call.destination}${call.path}`;
  const { verb, target, path } = call;
  if (!target) return `${verb} ${path}`;
  return `${verb} ${target.resource}${target.subresource === '' ? '' : `/${target.subresource}`}`;
}
