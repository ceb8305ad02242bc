import { BOOL, INT, opaqueType, STRING } from '../typing/cel-type.ts';
import type { Meter } from '../evaluate/meter.ts';
import type { FunctionLibrary } from '../typing/overload.ts';
import { CelOpaque, fail, type Value } from '../values/value.ts';
import {
  type Address,
  formatAddress,
  lengthOf,
  maskAddress,
  parseAddress,
  parsePrefix,
  type Prefix,
} from './parse-address.ts';

const IP = opaqueType('net.IP');
const CIDR = opaqueType('net.CIDR');
/** Reading an address takes as long as comparing so many elements. */
const READ_WORK = 50;

class CelIp extends CelOpaque {
  readonly type = IP;
  readonly address: Address;

  constructor(address: Address) {
    super();
    this.address = address;
  }

  override get size(): number {
    return lengthOf(this.address) / 8;
  }

  equals(other: CelOpaque): boolean {
    return (
      other instanceof CelIp &&
      other.address.family === this.address.family &&
      other.address.value === this.address.value
    );
  }
}

class CelCidr extends CelOpaque {
  readonly type = CIDR;
  readonly prefix: Prefix;

  constructor(prefix: Prefix) {
    super();
    this.prefix = prefix;
  }

  override get size(): number {
    return Math.ceil(this.prefix.bits / 8);
  }

  equals(other: CelOpaque): boolean {
    return (
      other instanceof CelCidr &&
      other.prefix.bits === this.prefix.bits &&
      new CelIp(this.prefix.address).equals(new CelIp(other.prefix.address))
    );
  }

  contains(address: Address): boolean {
    const { address: mine, bits } = this.prefix;
    return address.family === mine.family && maskAddress(address, bits).value === maskAddress(mine, bits).value;
  }
}

/** Kubernetes' IP addresses and networks: `ip('10.0.0.1')`, `cidr('10.0.0.0/8').containsIP('10.0.0.1')`. */
export function defineAddresses(library: FunctionLibrary): void {
  type Text = readonly [string];
  library.define('ip', 'string_to_ip', [STRING], IP, ([text]: Text, meter) => readIp(text, meter));
  library.define('isIP', 'is_ip', [STRING], BOOL, ([text]: Text, meter) => {
    meter.work(READ_WORK);
    return !('fault' in parseAddress(text));
  });
  library.define(
    'ip.isCanonical',
    'ip_is_canonical',
    [STRING],
    BOOL,
    ([text]: Text, meter) => formatAddress(readIp(text, meter).address) === text,
  );
  library.define('string', 'ip_to_string', [IP], STRING, ([{ address }]: readonly [CelIp]) => formatAddress(address));
  library.method('family', 'ip_family', [IP], INT, ([{ address }]: readonly [CelIp]) => BigInt(address.family));
  for (const [name, isKind] of Object.entries(KINDS)) {
    library.method(name, `ip_${name}`, [IP], BOOL, ([{ address }]: readonly [CelIp]) => isKind(address));
  }
  defineNetworks(library);
}

function defineNetworks(library: FunctionLibrary): void {
  type One = readonly [CelCidr];
  const method = library.method.bind(library);
  library.define('cidr', 'string_to_cidr', [STRING], CIDR, ([text]: readonly [string], meter) => readCidr(text, meter));
  library.define('isCIDR', 'is_cidr', [STRING], BOOL, ([text]: readonly [string], meter) => {
    meter.work(READ_WORK);
    return !('fault' in parsePrefix(text));
  });
  library.define(
    'string',
    'cidr_to_string',
    [CIDR],
    STRING,
    ([{ prefix }]: One) => `${formatAddress(prefix.address)}/${prefix.bits}`,
  );
  method('ip', 'cidr_ip', [CIDR], IP, ([{ prefix }]: One) => new CelIp(prefix.address));
  method('prefixLength', 'cidr_prefix_length', [CIDR], INT, ([{ prefix }]: One) => BigInt(prefix.bits));
  method(
    'masked',
    'cidr_masked',
    [CIDR],
    CIDR,
    ([
      {
        prefix: { address, bits },
      },
    ]: One): Value => new CelCidr({ address: maskAddress(address, bits), bits }),
  );
  method('containsIP', 'cidr_contains_ip_ip', [CIDR, IP], BOOL, ([cidr, { address }]: readonly [CelCidr, CelIp]) =>
    cidr.contains(address),
  );
  method(
    'containsIP',
    'cidr_contains_ip_string',
    [CIDR, STRING],
    BOOL,
    ([cidr, text]: readonly [CelCidr, string], meter) => cidr.contains(readIp(text, meter).address),
  );
  const containsCidr = (outer: CelCidr, { prefix }: CelCidr): boolean =>
    outer.prefix.bits <= prefix.bits && outer.contains(prefix.address);
  method('containsCIDR', 'cidr_contains_cidr', [CIDR, CIDR], BOOL, ([a, b]: readonly [CelCidr, CelCidr]) =>
    containsCidr(a, b),
  );
  method(
    'containsCIDR',
    'cidr_contains_cidr_string',
    [CIDR, STRING],
    BOOL,
    ([a, text]: readonly [CelCidr, string], meter) => containsCidr(a, readCidr(text, meter)),
  );
}

function readIp(text: string, meter: Meter): CelIp {
  meter.work(READ_WORK);
  const address = parseAddress(text);
  return 'fault' in address ? fail(address.fault) : new CelIp(address);
}

function readCidr(text: string, meter: Meter): CelCidr {
  meter.work(READ_WORK);
  const prefix = parsePrefix(text);
  return 'fault' in prefix ? fail(prefix.fault) : new CelCidr(prefix);
}

const isLinkLocal = ({ family, value }: Address): boolean =>
  family === 4 ? value >> 16n === 0xa9fen : value >> 118n === 0x3fan;
const isUnspecified = ({ value }: Address): boolean => value === 0n;
const isLoopback = ({ family, value }: Address): boolean => (family === 4 ? value >> 24n === 127n : value === 1n);
const isMulticast = ({ family, value }: Address): boolean =>
  family === 4 ? value >> 28n === 14n : value >> 120n === 0xffn;

/** Go's kinds of addresses. */
const KINDS: Readonly<Record<string, (address: Address) => boolean>> = {
  isUnspecified,
  isLoopback,
  isLinkLocalUnicast: isLinkLocal,
  isLinkLocalMulticast: ({ family, value }) =>
    family === 4 ? value >> 8n === 0xe00000n : value >> 120n === 0xffn && ((value >> 112n) & 0xfn) === 2n,
  isGlobalUnicast: (address) =>
    !isUnspecified(address) &&
    !(address.family === 4 && address.value === 0xffffffffn) &&
    !isLoopback(address) &&
    !isMulticast(address) &&
    !isLinkLocal(address),
};
