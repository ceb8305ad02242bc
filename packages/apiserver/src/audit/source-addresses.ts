import { isIP } from 'node:net';
import { firstHeader } from '../contract/first-header.ts';
import type { ApiRequest } from '../contract/api-request.ts';

/**
 * From where a request came: what `X-Forwarded-For` and `X-Real-Ip` say, which anybody can write, and last the other end of the
 * connection, if it is not the last of these already.
 */
export function sourceAddresses({ headers, peer }: ApiRequest): string[] {
  const addresses = [headers['x-forwarded-for'] ?? []]
    .flat()
    .flatMap((value) => value.split(','))
    .map((value) => plain(value.trim()))
    .filter((value) => isIP(value) !== 0);
  const real = plain((firstHeader(headers, 'x-real-ip') ?? '').trim());
  if (isIP(real) !== 0 && !addresses.includes(real)) addresses.push(real);
  const remote = plain(peer?.address ?? '');
  if (isIP(remote) !== 0 && addresses.at(-1) !== remote) addresses.push(remote);
  return addresses;
}

/** An IPv4 address in the form of IPv6 is written as what it is. */
function plain(address: string): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address);
  return mapped?.[1] ?? address;
}
