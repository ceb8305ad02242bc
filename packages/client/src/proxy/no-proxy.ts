import { BlockList, isIP } from 'node:net';
import { domainToASCII } from 'node:url';

/** Where a connection goes: a name in lower case, or an address without brackets. */
export interface Destination {
  host: string;
  port: number;
}

type Matcher = (destination: Destination) => boolean;

/**
 * Whether `NO_PROXY` lets a destination be reached without the proxy, by the rules of Go's `httpproxy`, which kubectl follows:
 *
 * - `localhost` and loopback addresses are never proxied, whatever the list says;
 * - `*` is everything;
 * - `example.org` is that name and all below it, `.example.org` and `*.example.org` those below it alone;
 * - `10.0.0.0/8` and `fd00::/8` are addresses in a block, `10.1.2.3` and `fd00::1` single ones. They match addresses alone: no name
 *   is looked up;
 * - a name or address with `:port` is only that port (`[fd00::1]:443`).
 */
export function isDirect(destination: Destination, noProxy: string): boolean {
  if (isLoopback(destination.host)) return true;
  return noProxy.split(',').some((entry) => matcherOf(entry.trim().toLowerCase())?.(destination));
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || contains(LOOPBACK, host);
}

const LOOPBACK = new BlockList();
LOOPBACK.addSubnet('127.0.0.0', 8, 'ipv4');
LOOPBACK.addAddress('::1', 'ipv6');

/** Undefined for an entry that is nothing of the above: it matches nothing. */
function matcherOf(entry: string): Matcher | undefined {
  if (entry === '*') return () => true;
  const block = blockOf(entry);
  if (block) return ({ host }) => contains(block, host);
  const { name, port } = splitPort(entry);
  const fits: Matcher = (destination) => port === undefined || destination.port === port;
  if (isIP(name) !== 0) {
    const single = new BlockList();
    single.addAddress(name, familyOf(name));
    return (destination) => fits(destination) && contains(single, destination.host);
  }
  const domain = name.replace(/^\*\./, '.');
  if (domain === '' || (port !== undefined && Number.isNaN(port))) return undefined;
  const below = domain.startsWith('.') ? domain.slice(1) : domain;
  const ascii = domainToASCII(below) || below;
  return (destination) => {
    const { host } = destination;
    if (isIP(host) !== 0 || !fits(destination)) return false;
    return host.endsWith(`.${ascii}`) || (host === ascii && !domain.startsWith('.'));
  };
}

function blockOf(entry: string): BlockList | undefined {
  const [, address = '', bits = ''] = /^([^/]+)\/(\d{1,3})$/.exec(entry) ?? [];
  const family = isIP(address);
  if (family === 0 || Number(bits) > (family === 4 ? 32 : 128)) return undefined;
  const block = new BlockList();
  block.addSubnet(address, Number(bits), familyOf(address));
  return block;
}

/** An address of version 6 has colons of its own. */
function splitPort(entry: string): { name: string; port: number | undefined } {
  const match = /^\[(.*)\]:(\d*)$/.exec(entry) ?? /^([^:[\]]*):(\d*)$/.exec(entry);
  if (!match) return { name: entry, port: undefined };
  return { name: match[1] ?? '', port: match[2] ? Number(match[2]) : undefined };
}

function contains(list: BlockList, host: string): boolean {
  return isIP(host) !== 0 && list.check(host, familyOf(host));
}

function familyOf(address: string): 'ipv4' | 'ipv6' {
  return isIP(address) === 6 ? 'ipv6' : 'ipv4';
}
