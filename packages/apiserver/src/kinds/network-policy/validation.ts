import {
  type FieldError,
  fieldForbidden,
  fieldNotSupported,
  fieldRequired,
  type KubeObject,
} from '@asterism/machinery';
import { type Fields, listAt, numberAt, optionalFields, textAt, textsAt } from '../fields/draft-fields.ts';
import { networkContains, parseCidr, validateCidr } from '../ip/ip-address.ts';
import { invalidValues, validatePortNumber } from '../validation/name-formats.ts';
import { validatePortName } from '../validation/validate-text.ts';
import { labelSelectorFaults } from '../validation/validate-label-selector.ts';
import { invalidValue } from '../../registry/invalid-value.ts';

const PROTOCOLS = ['TCP', 'UDP', 'SCTP'];
const POLICY_TYPES = ['Ingress', 'Egress'];

export interface PeerPlace {
  peer: Fields;
  at: string;
}

export function peersIn(rule: Fields, direction: string, at: string): PeerPlace[] {
  const key = direction === 'ingress' ? 'from' : 'to';
  return listAt(rule, key).map((peer, index) => ({ peer, at: `${at}.${key}[${index}]` }));
}

export function validatePolicy(object: KubeObject, known: readonly string[]): FieldError[] {
  const spec = optionalFields(object, 'spec') ?? {};
  const faults = labelSelectorFaults(optionalFields(spec, 'podSelector'), 'spec.podSelector');
  for (const direction of ['ingress', 'egress']) {
    for (const [index, rule] of listAt(spec, direction).entries()) {
      const at = `spec.${direction}[${index}]`;
      faults.push(
        ...listAt(rule, 'ports').flatMap((port, portIndex) => validatePort(port, `${at}.ports[${portIndex}]`)),
      );
      faults.push(...peersIn(rule, direction, at).flatMap((place) => validatePeer(place, known)));
    }
  }
  const types = textsAt(spec, 'policyTypes');
  if (types.length > POLICY_TYPES.length)
    return [...faults, invalidValue('spec.policyTypes', types, 'may not specify more than two policyTypes')];
  for (const [index, type] of types.entries()) {
    if (!POLICY_TYPES.includes(type)) faults.push(fieldNotSupported(`spec.policyTypes[${index}]`, type, POLICY_TYPES));
  }
  return faults;
}

function validatePort(port: Fields, at: string): FieldError[] {
  const faults: FieldError[] = [];
  const protocol = textAt(port, 'protocol');
  if (port.protocol !== undefined && !PROTOCOLS.includes(protocol))
    faults.push(fieldNotSupported(`${at}.protocol`, protocol, PROTOCOLS));
  const endPort = numberAt(port, 'endPort');
  const number = port.port;
  if (typeof number === 'number') {
    faults.push(...validatePortNumber(number, `${at}.port`));
    if (endPort === undefined) return faults;
    // Upstream shows the first port here.
    if (endPort < number) faults.push(invalidValue(`${at}.endPort`, number, 'must be greater than or equal to `port`'));
    return [...faults, ...validatePortNumber(endPort, `${at}.endPort`)];
  }
  const isNamed = typeof number === 'string';
  if (endPort !== undefined) {
    const detail = `may not be specified when \`port\` is ${isNamed ? 'non-numeric' : 'not specified'}`;
    faults.push(invalidValue(`${at}.endPort`, endPort, detail));
  }
  return isNamed ? [...faults, ...invalidValues(`${at}.port`, number, validatePortName(number))] : faults;
}

function validatePeer({ peer, at }: PeerPlace, known: readonly string[]): FieldError[] {
  const podSelector = optionalFields(peer, 'podSelector');
  const namespaceSelector = optionalFields(peer, 'namespaceSelector');
  const block = optionalFields(peer, 'ipBlock');
  const faults = [
    ...labelSelectorFaults(podSelector, `${at}.podSelector`),
    ...labelSelectorFaults(namespaceSelector, `${at}.namespaceSelector`),
    ...(block ? validateBlock(block, `${at}.ipBlock`, known) : []),
  ];
  if (!podSelector && !namespaceSelector && !block) faults.push(fieldRequired(at, 'must specify a peer'));
  else if (block && (podSelector || namespaceSelector))
    faults.push(fieldForbidden(at, 'may not specify both ipBlock and another peer'));
  return faults;
}

function validateBlock(block: Fields, at: string, known: readonly string[]): FieldError[] {
  const cidr = textAt(block, 'cidr');
  if (cidr === '') return [fieldRequired(`${at}.cidr`)];
  const faults = validateCidr(cidr, `${at}.cidr`, known);
  const network = parseCidr(cidr);
  if (!network) return faults;
  for (const [index, text] of textsAt(block, 'except').entries()) {
    const within = `${at}.except[${index}]`;
    faults.push(...validateCidr(text, within, known));
    const except = parseCidr(text);
    if (!except || (networkContains(network, except.address) && network.prefix < except.prefix)) continue;
    faults.push(invalidValue(within, text, 'must be a strict subset of `cidr`'));
  }
  return faults;
}
