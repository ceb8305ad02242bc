import {
  type FieldError,
  fieldNotSupported,
  fieldRequired,
  type KubeObject,
  validateDns1123Label,
  validateDns1123Subdomain,
  validateQualifiedName,
} from '@asterism/machinery';
import { type Fields, listAt, numberAt, textAt } from '../fields/draft-fields.ts';
import { validateIp, validateNonSpecialIp } from '../ip/ip-address.ts';
import { invalidValues, validatePortNumber } from '../validation/name-formats.ts';

const PROTOCOLS = ['SCTP', 'TCP', 'UDP'];

export function addressesOf(subset: Fields): { address: Fields; at: string }[] {
  return ['addresses', 'notReadyAddresses'].flatMap((key) =>
    listAt(subset, key).map((address, index) => ({ address, at: `${key}[${index}]` })),
  );
}

export function validateEndpoints(object: KubeObject, known: readonly string[]): FieldError[] {
  return listAt(object, 'subsets').flatMap((subset, index) => {
    const within = `subsets[${index}]`;
    const addresses = addressesOf(subset);
    const ports = listAt(subset, 'ports');
    return [
      ...(addresses.length === 0 ? [fieldRequired(within, 'must specify `addresses` or `notReadyAddresses`')] : []),
      ...addresses.flatMap(({ address, at }) => validateAddress(address, `${within}.${at}`, known)),
      ...ports.flatMap((port, at) => validatePort(port, `${within}.ports[${at}]`, ports.length > 1)),
    ];
  });
}

function validateAddress(address: Fields, at: string, known: readonly string[]): FieldError[] {
  const ip = textAt(address, 'ip');
  const hostname = textAt(address, 'hostname');
  const nodeName = address.nodeName;
  return [
    ...validateIp(ip, `${at}.ip`, known),
    ...(hostname === '' ? [] : invalidValues(`${at}.hostname`, hostname, validateDns1123Label(hostname))),
    ...(typeof nodeName === 'string'
      ? invalidValues(`${at}.nodeName`, nodeName, validateDns1123Subdomain(nodeName))
      : []),
    ...validateNonSpecialIp(ip, `${at}.ip`),
  ];
}

function validatePort(port: Fields, at: string, nameRequired: boolean): FieldError[] {
  const name = textAt(port, 'name');
  const protocol = textAt(port, 'protocol');
  const { appProtocol } = port;
  const faults: FieldError[] = [];
  if (nameRequired && name === '') faults.push(fieldRequired(`${at}.name`));
  else if (name !== '') faults.push(...invalidValues(`${at}.name`, name, validateDns1123Label(name)));
  faults.push(...validatePortNumber(numberAt(port, 'port') ?? 0, `${at}.port`));
  if (!PROTOCOLS.includes(protocol)) faults.push(fieldNotSupported(`${at}.protocol`, protocol, PROTOCOLS));
  if (typeof appProtocol === 'string')
    faults.push(...invalidValues(`${at}.appProtocol`, appProtocol, validateQualifiedName(appProtocol)));
  return faults;
}
