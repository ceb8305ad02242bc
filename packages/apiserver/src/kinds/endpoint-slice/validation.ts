import {
  type FieldError,
  fieldNotSupported,
  fieldRequired,
  fieldTooMany,
  type KubeObject,
  validateDns1123Label,
  validateDns1123Subdomain,
  validateLabels,
  validateLabelValue,
  validateQualifiedName,
} from '@asterism/machinery';
import { type Fields, listAt, optionalFields, textAt, textsAt } from '../fields/draft-fields.ts';
import { parseIp, validateIp, validateNonSpecialIp } from '../ip/ip-address.ts';
import { invalidValues, validateDomainName } from '../validation/name-formats.ts';
import { duplicateValue, invalidValue } from '../../registry/invalid-value.ts';

const ADDRESS_TYPES = ['FQDN', 'IPv4', 'IPv6'];
const PROTOCOLS = ['SCTP', 'TCP', 'UDP'];
const MAX_ENDPOINTS = 1000;
const MAX_ADDRESSES = 100;
const MAX_PORTS = 20_000;
const MAX_TOPOLOGY_LABELS = 16;
const MAX_HINTS = 8;

export function validateSlice(object: KubeObject, known: readonly string[]): FieldError[] {
  const type = textAt(object, 'addressType');
  const faults: FieldError[] = [];
  if (type === '') faults.push(fieldRequired('addressType'));
  else if (!ADDRESS_TYPES.includes(type)) faults.push(fieldNotSupported('addressType', type, ADDRESS_TYPES));
  const endpoints = listAt(object, 'endpoints');
  if (endpoints.length > MAX_ENDPOINTS) faults.push(fieldTooMany('endpoints', endpoints.length, MAX_ENDPOINTS));
  else
    faults.push(...endpoints.flatMap((each, index) => validateEndpoint(each, `endpoints[${index}]`, { type, known })));
  const ports = listAt(object, 'ports');
  if (ports.length > MAX_PORTS) return [...faults, fieldTooMany('ports', ports.length, MAX_PORTS)];
  const names = new Set<string>();
  return [...faults, ...ports.flatMap((port, index) => validatePort(port, `ports[${index}]`, names))];
}

function validateEndpoint(
  endpoint: Fields,
  at: string,
  { type, known }: { type: string; known: readonly string[] },
): FieldError[] {
  const addresses = textsAt(endpoint, 'addresses');
  const faults: FieldError[] = [];
  if (addresses.length === 0) faults.push(fieldRequired(`${at}.addresses`, 'must contain at least 1 address'));
  else if (addresses.length > MAX_ADDRESSES)
    faults.push(fieldTooMany(`${at}.addresses`, addresses.length, MAX_ADDRESSES));
  for (const [index, address] of addresses.entries()) {
    const within = `${at}.addresses[${index}]`;
    if (type === 'FQDN') faults.push(...validateDomainName(address, within));
    else if (type === 'IPv4' || type === 'IPv6')
      faults.push(...validateAddress(address, within, { type, at: `${at}.addresses`, known }));
  }
  const topology = optionalFields(endpoint, 'deprecatedTopology') ?? {};
  if (Object.keys(topology).length > MAX_TOPOLOGY_LABELS)
    faults.push(fieldTooMany(`${at}.deprecatedTopology`, Object.keys(topology).length, MAX_TOPOLOGY_LABELS));
  faults.push(...validateLabels(topology as Record<string, string>, `${at}.deprecatedTopology`));
  if (topology['topology.kubernetes.io/zone'] !== undefined) {
    const detail = 'cannot set topology[topology.kubernetes.io/zone] when zone is set';
    faults.push(invalidValue(`${at}.deprecatedTopology`, topology['topology.kubernetes.io/zone'], detail));
  }
  const { nodeName, hostname } = endpoint;
  if (typeof nodeName === 'string')
    faults.push(...invalidValues(`${at}.nodeName`, nodeName, validateDns1123Subdomain(nodeName)));
  if (typeof hostname === 'string')
    faults.push(...invalidValues(`${at}.hostname`, hostname, validateDns1123Label(hostname)));
  return [...faults, ...validateHints(endpoint, `${at}.hints`)];
}

function validateAddress(
  address: string,
  within: string,
  { type, at, known }: { type: 'IPv4' | 'IPv6'; at: string; known: readonly string[] },
): FieldError[] {
  const faults = validateIp(address, within, known);
  if (faults.length > 0) return faults;
  const isV6 = parseIp(address)?.family === 6;
  if (isV6 !== (type === 'IPv6')) faults.push(invalidValue(at, address, `must be an ${type} address`));
  return [...faults, ...validateNonSpecialIp(address, within)];
}

function validateHints(endpoint: Fields, at: string): FieldError[] {
  const hints = optionalFields(endpoint, 'hints');
  return ['forZones', 'forNodes'].flatMap((key) => {
    const items = listAt(hints, key);
    if (items.length > MAX_HINTS) return [fieldTooMany(`${at}.${key}`, items.length, MAX_HINTS)];
    const seen = new Set<string>();
    return items.flatMap((item, index) => {
      const name = textAt(item, 'name');
      const within = `${at}.${key}[${index}].name`;
      const faults = seen.has(name) ? [duplicateValue(within, name)] : [];
      seen.add(name);
      const nameFaults = key === 'forZones' ? validateLabelValue(name) : validateDns1123Subdomain(name);
      return [...faults, ...invalidValues(within, name, nameFaults)];
    });
  });
}

function validatePort(port: Fields, at: string, names: Set<string>): FieldError[] {
  const name = textAt(port, 'name');
  const protocol = textAt(port, 'protocol');
  const { appProtocol } = port;
  const faults = name === '' ? [] : invalidValues(`${at}.name`, name, validateDns1123Label(name));
  if (names.has(name)) faults.push(duplicateValue(`${at}.name`, name));
  names.add(name);
  if (!PROTOCOLS.includes(protocol)) faults.push(fieldNotSupported(`${at}.protocol`, protocol, PROTOCOLS));
  if (typeof appProtocol === 'string')
    faults.push(...invalidValues(`${at}.appProtocol`, appProtocol, validateQualifiedName(appProtocol)));
  return faults;
}
