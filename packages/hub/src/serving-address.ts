import { isIP, isIPv4 } from 'node:net';

const ANY_ADDRESS = new Set(['0.0.0.0', '::']);

/** Whether that is every address of this machine, which nobody can call. */
export function isAnyAddress(host: string): boolean {
  return ANY_ADDRESS.has(host);
}

export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIPv4(host) && host.startsWith('127.'));
}

/** The names that the serving certificate bears. */
export function hostsOf(host: string, advertise: readonly string[]): string[] {
  return [...new Set(['localhost', '127.0.0.1', ...(isAnyAddress(host) ? [] : [host]), ...advertise])];
}

/** How clients on this machine, or where it advertises more on others, call the hub. */
export function serverUrl(host: string, port: number, [advertised]: readonly string[]): string {
  const name = advertised ?? (isAnyAddress(host) ? '127.0.0.1' : host);
  return `https://${isIP(name) === 6 ? `[${name}]` : name}:${port}`;
}
