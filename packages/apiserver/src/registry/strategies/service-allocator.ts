import { BlockList, isIPv4 } from 'node:net';
import { failure, type KubeObject } from '@asterism/machinery';
import type { ObjectStore } from '../../storage/object-store.ts';
import type { ServiceAllocator } from './service.ts';

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
/** Long enough for the write that took something to be committed, or to fail and leave it free again. */
const RESERVATION_MS = 30_000;

/**
 * Addresses and node ports for Services. There is no record of its own that could disagree with the Services after a crash:
 * what is in use is what stored Services say, and what a write of the last seconds was given.
 */
export function createServiceAllocator(options: ServiceAllocatorOptions): ServiceAllocator {
  const { first, size, contains } = parseRange(options.range);
  const reserved = new Map<string, number>();

  const inUse = (): Set<string> => {
    const now = options.clock();
    const used = new Set<string>();
    for (const [what, until] of reserved) {
      if (until > now) used.add(what);
      else reserved.delete(what);
    }
    for (const [, stored] of options.store.cache('services').entries('', '')) {
      const { clusterIPs = [], healthCheckNodePort, ports = [] } = (stored.parse() as ServiceView).spec ?? {};
      for (const address of clusterIPs) used.add(address);
      for (const { nodePort } of ports) if (nodePort) used.add(String(nodePort));
      if (healthCheckNodePort) used.add(String(healthCheckNodePort));
    }
    return used;
  };
  const reserve = (what: string): string => {
    reserved.set(what, options.clock() + RESERVATION_MS);
    return what;
  };
  /** The first free one of `count`, from a random place on, so that neighbours in time are none in number. */
  const pick = (count: number, name: (index: number) => string, full: string): string => {
    const used = inUse();
    const start = Math.floor(options.random() * count);
    for (let step = 0; step < count; step++) {
      const candidate = name((start + step) % count);
      if (!used.has(candidate)) return reserve(candidate);
    }
    throw failure(500, full);
  };

  return {
    // The first address is the network's, the last its broadcast.
    nextAddress: () =>
      pick(size - 2, (index) => formatAddress(first + 1 + index), `no free address in ${options.range}`),
    takeAddress(address) {
      if (!contains(address)) {
        return `failed to allocate IP ${address}: the provided network does not match the current range`;
      }
      if (inUse().has(address)) return `failed to allocate IP ${address}: provided IP is already allocated`;
      reserve(address);
      return true;
    },
    nextNodePort: () =>
      Number(
        pick(LAST_NODE_PORT - FIRST_NODE_PORT + 1, (index) => String(FIRST_NODE_PORT + index), 'no free node port'),
      ),
    takeNodePort(port) {
      if (port < FIRST_NODE_PORT || port > LAST_NODE_PORT) {
        return `provided port is not in the valid range. The range of valid ports is ${FIRST_NODE_PORT}-${LAST_NODE_PORT}`;
      }
      if (inUse().has(String(port))) return 'provided port is already allocated';
      reserve(String(port));
      return true;
    },
  };
}

function parseRange(range: string): { first: number; size: number; contains(address: string): boolean } {
  const [address = '', prefix = ''] = range.split('/');
  const bits = Number(prefix);
  if (!isIPv4(address) || !(bits >= 8 && bits <= 30)) {
    throw new RangeError(`the range of service addresses must be an IPv4 network of 8 to 30 bits, not ${range}`);
  }
  const list = new BlockList();
  list.addSubnet(address, bits, 'ipv4');
  const number = address.split('.').reduce((sum, part) => sum * 256 + Number(part), 0);
  const size = 2 ** (32 - bits);
  return {
    first: Math.floor(number / size) * size,
    size,
    contains: (candidate) => isIPv4(candidate) && list.check(candidate, 'ipv4'),
  };
}

function formatAddress(number: number): string {
  return [24, 16, 8, 0].map((shift) => Math.floor(number / 2 ** shift) % 256).join('.');
}
