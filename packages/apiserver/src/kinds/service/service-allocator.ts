import { failure, type KubeObject } from '@asterism/machinery';
import type { ObjectStore } from '../../storage/object-store.ts';
import { addressChanges, IP_ADDRESSES, isAddressOf } from './service-addresses.ts';
import { formatIp, type IpNetwork, networkAddress, networkContains, parseCidr, parseIp } from '../ip/ip-address.ts';
import type { ObjectChange } from '../../contract/object-change.ts';

/** Who asks for something, and whether only to see what would be. */
export interface Allocation {
  /** Namespace and name: what a write was given that came to nothing, the same one may be given again. */
  owner: string;
  dryRun: boolean;
}

/** Hands out what only one Service can have. Numbers and addresses in use are those of stored Services. */
export interface ServiceAllocator {
  /** A free address of the range; in a dry run the first of the range, as upstream. Throws 500 where there is none. */
  nextAddress(allocation: Allocation): string;
  /** Takes this address; the text says why it cannot be had. */
  takeAddress(address: string, allocation: Allocation): true | string;
  nextNodePort(allocation: Allocation): number;
  takeNodePort(port: number, allocation: Allocation): true | string;
  /** Frees what `owner` was given and has not stored. */
  release(owner: string): void;
  /** What is stored or removed together with a Service. */
  companions(service: KubeObject | undefined, old: KubeObject | undefined): ObjectChange[];
}

export interface ServiceAllocatorOptions {
  store: ObjectStore;
  /** IPv4 in CIDR form, e.g. `10.96.0.0/16`. */
  range: string;
  random: () => number;
  clock: () => number;
}

interface ServiceView extends KubeObject {
  spec?: { clusterIPs?: string[]; healthCheckNodePort?: number; ports?: { nodePort?: number }[] };
}

const FIRST_NODE_PORT = 30_000;
const LAST_NODE_PORT = 32_767;
/** Ports and addresses at the start of their range are given to nobody who does not ask for them, while there are others. */
const STATIC_NODE_PORTS = 86;
const DRY_RUN_NODE_PORT = 32_769;
/** Long enough for the write that took something to be committed, or to fail and leave it free again. */
const RESERVATION_MS = 30_000;

/**
 * Addresses and node ports for Services. There is no record of its own that could disagree with the Services after a crash:
 * what is in use is what stored Services say, and what a write of the last seconds was given.
 */
export function createServiceAllocator(options: ServiceAllocatorOptions): ServiceAllocator {
  const network = parseRange(options.range);
  const first = networkAddress(network) + 1n;
  const size = 2 ** (32 - network.prefix) - 2;
  const { pick, take, release } = createReservations(options);
  const addresses: Range = {
    what: 'a serviceIP',
    count: size,
    kept: staticAddresses(size + 2),
    name: (index) => formatIp({ family: 4, value: first + BigInt(index) }),
  };
  const nodePorts: Range = {
    what: 'a nodePort',
    count: LAST_NODE_PORT - FIRST_NODE_PORT + 1,
    kept: STATIC_NODE_PORTS,
    name: (index) => String(FIRST_NODE_PORT + index),
  };

  return {
    nextAddress: (allocation) =>
      allocation.dryRun ? formatIp({ family: 4, value: networkAddress(network) }) : pick(addresses, allocation),
    takeAddress(address, allocation) {
      const ip = parseIp(address);
      const inside = ip !== undefined && networkContains(network, ip);
      if (!inside && !allocation.dryRun) return 'the provided network does not match the current range';
      if (!inside || ip.value < first || ip.value >= first + BigInt(size)) {
        return `the provided IP (${address}) is not in the valid range. The range of valid IPs is ${options.range}`;
      }
      // Upstream's dry run asks nobody whether the address is taken.
      return allocation.dryRun || take(formatIp(ip), allocation, 'provided IP is already allocated');
    },
    nextNodePort: (allocation) => (allocation.dryRun ? DRY_RUN_NODE_PORT : Number(pick(nodePorts, allocation))),
    takeNodePort(port, allocation) {
      const outside = port < FIRST_NODE_PORT || port > LAST_NODE_PORT;
      if (outside && !allocation.dryRun) {
        return `provided port is not in the valid range. The range of valid ports is ${FIRST_NODE_PORT}-${LAST_NODE_PORT}`;
      }
      return take(String(port), allocation, 'provided port is already allocated');
    },
    release,
    companions: (service, old) => addressChanges(service, old, { store: options.store, now: options.clock() }),
  };
}

/** What is handed out in numbers: `count` of them, the first `kept` only when there are no others. */
interface Range {
  /** For messages. */
  what: string;
  count: number;
  kept: number;
  name(index: number): string;
}

interface Reservations {
  /** The first free one after a random one, so that neighbours in time are none in number. */
  pick(range: Range, allocation: Allocation): string;
  /** `taken` where it is not free. */
  take(what: string, allocation: Allocation, taken: string): true | string;
  release(owner: string): void;
}

/** What writes of the last seconds were given, beside what stored Services use. */
function createReservations(options: ServiceAllocatorOptions): Reservations {
  const reservations = new Map<string, { owner: string; until: number }>();
  const release = (owner: string): void => {
    for (const [what, reservation] of reservations) if (reservation.owner === owner) reservations.delete(what);
  };
  // Once stored, a Service itself says what it has, and once deleted, it has nothing.
  const inUse = followUse(options.store, release);

  const isFree = (what: string, owner: string): boolean => {
    if (inUse().has(what) || isElsewhere(what, owner)) return false;
    const reservation = reservations.get(what);
    return !reservation || reservation.owner === owner || reservation.until <= performance.now();
  };
  // An IPAddress may be anybody's, without a Service.
  const isElsewhere = (what: string, owner: string): boolean => {
    const address = options.store.get(IP_ADDRESSES, undefined, what)?.parse();
    const [namespace = '', name = ''] = owner.split('/');
    return address !== undefined && !isAddressOf(address, namespace, name);
  };
  const reserve = (what: string, { owner, dryRun }: Allocation): void => {
    if (dryRun) return;
    const now = performance.now();
    for (const [key, { until }] of reservations) if (until <= now) reservations.delete(key);
    reservations.set(what, { owner, until: now + RESERVATION_MS });
  };
  const pick = ({ what, count, kept, name }: Range, allocation: Allocation): string => {
    const start = Math.floor(options.random() * (count - kept));
    for (let step = 0; step < count; step++) {
      const index = step < count - kept ? kept + ((start + step) % (count - kept)) : step - (count - kept);
      const candidate = name(index);
      // What this same Service was given a moment ago is not free for another port of it.
      if (!isFree(candidate, '')) continue;
      reserve(candidate, allocation);
      return candidate;
    }
    throw failure(500, `Internal error occurred: failed to allocate ${what}: range is full`);
  };
  const take = (what: string, allocation: Allocation, taken: string): true | string => {
    if (!isFree(what, allocation.owner)) return taken;
    reserve(what, allocation);
    return true;
  };
  return { pick, take, release };
}

/** How many addresses at the start of a range of `size` are kept for those who ask for one (KEP-3070). */
function staticAddresses(size: number): number {
  return size < 16 ? 0 : Math.min(Math.max(16, Math.floor(size / 16)), 256, size - 3);
}

/** What stored Services use, kept up from the first question on. */
function followUse(store: ObjectStore, stored: (owner: string) => void): () => ReadonlyMap<string, number> {
  const used = new Map<string, number>();
  const count = (service: KubeObject, by: number): void => {
    for (const what of usedBy(service as ServiceView)) {
      const users = (used.get(what) ?? 0) + by;
      if (users > 0) used.set(what, users);
      else used.delete(what);
    }
  };
  let following = false;
  return () => {
    if (!following) {
      following = true;
      for (const [, service] of store.cache('services').entries('', '')) count(service.parse(), 1);
      store.subscribe('services', ({ type, key, object, previous }) => {
        stored(key);
        if (previous) count(previous.parse(), -1);
        if (type === 'put') count(object.parse(), 1);
      });
    }
    return used;
  };
}

function usedBy({ spec: { clusterIPs = [], healthCheckNodePort, ports = [] } = {} }: ServiceView): Set<string> {
  const nodePorts = [healthCheckNodePort, ...ports.map(({ nodePort }) => nodePort)].filter((port) => port);
  return new Set([...clusterIPs.filter((address) => address !== 'None'), ...nodePorts.map(String)]);
}

/** The first address of a range that a Service can have. */
export function firstAddress(range: string): string {
  return formatIp({ family: 4, value: networkAddress(parseRange(range)) + 1n });
}

function parseRange(range: string): IpNetwork {
  const network = parseCidr(range);
  if (!network || network.address.family !== 4 || network.prefix < 8 || network.prefix > 30) {
    throw new RangeError(`the range of service addresses must be an IPv4 network of 8 to 30 bits, not ${range}`);
  }
  return network;
}
