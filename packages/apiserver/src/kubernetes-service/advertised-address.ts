import { isIP } from 'node:net';
import { type NetworkInterfaceInfo, networkInterfaces } from 'node:os';

/**
 * Under which address other machines find a server that listens on `host`: `host` itself where it is one that Endpoints may have,
 * else the first of this machine's, of the same family where `host` says one. Undefined where there is none.
 */
export function advertisedAddress(
  host: string,
  interfaces: NodeJS.Dict<NetworkInterfaceInfo[]> = networkInterfaces(),
): string | undefined {
  if (isIP(host) !== 0 && !isLocal(host)) return host;
  const family = host.includes(':') && host !== '::' ? 'IPv6' : 'IPv4';
  const outer = Object.values(interfaces)
    .flatMap((addresses) => addresses ?? [])
    .filter((each) => !each.internal && !isLocal(each.address));
  return outer.find((each) => each.family === family)?.address ?? outer[0]?.address;
}

/** Addresses that mean something else on every machine, which Endpoints may not have: unspecified, loopback, link-local. */
function isLocal(address: string): boolean {
  return /^(0\.0\.0\.0$|127\.|169\.254\.|::1?$|fe[89ab])/i.test(address);
}
