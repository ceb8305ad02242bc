const BYTE = '(?:25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])';
const IPV4 = new RegExp(`^${BYTE}(?:\\.${BYTE}){3}$`);
const ZONE = /^%[-.:0-9a-z]+$/i;
const GROUP = /^[0-9a-f]{1,4}$/i;

/** Whether the text is an IPv4 address in the form that `node:net` accepts: four decimal numbers without leading zeros. */
export function isIPv4(text: string): boolean {
  return IPV4.test(text);
}

/** Whether the text is an IPv6 address in a form that `node:net` accepts. A zone (`%eth0`) may follow it. */
export function isIPv6(text: string): boolean {
  const [address = ''] = text.split('%', 1);
  const zone = text.slice(address.length);
  if (zone !== '' && !ZONE.test(zone)) return false;
  const sides = address.split('::');
  if (sides.length > 2) return false;
  const groups = sides.flatMap((side) => (side === '' ? [] : side.split(':')));
  const last = groups.at(-1) ?? '';
  const endsInIPv4 = isIPv4(last) && !address.endsWith('::');
  const count = endsInIPv4 ? groups.length + 1 : groups.length;
  if (!(endsInIPv4 ? groups.slice(0, -1) : groups).every((group) => GROUP.test(group))) return false;
  return sides.length === 2 ? count < 8 : count === 8;
}
