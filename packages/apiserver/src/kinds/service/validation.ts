import {
  type FieldError,
  fieldForbidden,
  fieldNotSupported,
  fieldRequired,
  type KubeObject,
  seenBefore,
  validateDns1123Label,
  validateDns1123Subdomain,
  validateLabels,
  validateQualifiedName,
} from '@asterism/machinery';
import { type Fields, listAt, numberAt, optionalFields, textAt, textsAt } from '../fields/draft-fields.ts';
import { parseIp, validateCidr, validateIp, validateNonSpecialIp } from '../ip/ip-address.ts';
import { invalidValues, validatePortNumber } from '../validation/name-formats.ts';
import { validatePortName } from '../validation/validate-text.ts';
import { internalForm } from '../validation/internal-form.ts';
import { validateLoadBalancerStatus } from '../load-balancer/validate-load-balancer.ts';
import { duplicateValue, invalidValue } from '../../registry/invalid-value.ts';

const TYPES = ['ClusterIP', 'ExternalName', 'LoadBalancer', 'NodePort'];
const FAMILIES = ['IPv4', 'IPv6'];
const FAMILY_POLICIES = ['PreferDualStack', 'RequireDualStack', 'SingleStack'];
const TRAFFIC_POLICIES = ['Cluster', 'Local'];
const DISTRIBUTIONS = ['PreferClose', 'PreferSameNode', 'PreferSameZone'];
const PROTOCOLS = ['SCTP', 'TCP', 'UDP'];
const ONLY_LOAD_BALANCER = "may only be used when `type` is 'LoadBalancer'";
const SOURCE_RANGES = 'service.beta.kubernetes.io/load-balancer-source-ranges';
const TOPOLOGY_HINTS = 'service.kubernetes.io/topology-aware-hints';
const TOPOLOGY_MODE = 'service.kubernetes.io/topology-mode';
const MAX_AFFINITY_SECONDS = 86_400;

export function validateService(object: KubeObject, old?: KubeObject): FieldError[] {
  const spec = optionalFields(object, 'spec') ?? {};
  const before = optionalFields(old, 'spec');
  return [
    ...validateTopology(object),
    ...validateByType(spec),
    ...validatePorts(spec),
    ...validateSelector(spec),
    ...validateAffinity(spec),
    ...validateAddresses(spec, before),
    ...textsAt(spec, 'externalIPs').flatMap((ip, index) => {
      const faults = validateIp(ip, `spec.externalIPs[${index}]`, textsAt(before, 'externalIPs'));
      return faults.length > 0 ? faults : validateNonSpecialIp(ip, `spec.externalIPs[${index}]`);
    }),
    ...(TYPES.includes(textAt(spec, 'type')) ? [] : [fieldNotSupported('spec.type', textAt(spec, 'type'), TYPES)]),
    ...validateNodePorts(spec),
    ...validateDistinctPorts(spec),
    ...validateLoadBalancer(object, spec, before),
    ...validateTrafficPolicies(spec),
  ];
}

export function validateServiceUpdate(object: KubeObject, old: KubeObject): FieldError[] {
  const spec = optionalFields(object, 'spec') ?? {};
  const before = optionalFields(old, 'spec') ?? {};
  const faults = [...validateAddressChange(spec, before), ...validateFamilyChange(spec, before)];
  if (spec.type === 'LoadBalancer' && before.type === 'LoadBalancer') {
    if (spec.loadBalancerClass !== before.loadBalancerClass)
      faults.push(invalidValue('spec.loadBalancerClass', spec.loadBalancerClass ?? null, 'may not change once set'));
  }
  faults.push(...validateClass(spec));
  if (needsHealthCheck(spec) && needsHealthCheck(before) && spec.healthCheckNodePort !== before.healthCheckNodePort) {
    faults.push(fieldForbidden('spec.healthCheckNodePort', 'field is immutable'));
  }
  return [...faults, ...validateService(object, old)];
}

export function validateServiceStatus(object: KubeObject, old: KubeObject): FieldError[] {
  const status = optionalFields(optionalFields(object, 'status'), 'loadBalancer') ?? {};
  const faults: FieldError[] = [];
  if (listAt(status, 'ingress').length > 0 && optionalFields(object, 'spec')?.type !== 'LoadBalancer') {
    return [fieldForbidden('status.loadBalancer.ingress', "may only be used when `spec.type` is 'LoadBalancer'")];
  }
  faults.push(
    ...validateLoadBalancerStatus(status, optionalFields(optionalFields(old, 'status'), 'loadBalancer'), {
      at: 'status.loadBalancer',
      modes: true,
    }),
  );
  return faults;
}

export function isHeadless(spec: Fields): boolean {
  const addresses = textsAt(spec, 'clusterIPs');
  return addresses.length === 1 && addresses[0] === 'None';
}

export function isExternallyAccessible(spec: Fields): boolean {
  return (
    spec.type === 'LoadBalancer' ||
    spec.type === 'NodePort' ||
    (spec.type === 'ClusterIP' && textsAt(spec, 'externalIPs').length > 0)
  );
}

export function needsHealthCheck(spec: Fields): boolean {
  return spec.type === 'LoadBalancer' && spec.externalTrafficPolicy === 'Local';
}

function validateTopology({ metadata }: KubeObject): FieldError[] {
  const hints = metadata?.annotations?.[TOPOLOGY_HINTS];
  const mode = metadata?.annotations?.[TOPOLOGY_MODE];
  if (hints === undefined || mode === undefined || hints === mode) return [];
  const detail = `must match annotations[${TOPOLOGY_HINTS}] when both are specified`;
  return [invalidValue(`metadata.annotations[${TOPOLOGY_MODE}]`, mode, detail)];
}

function validateByType(spec: Fields): FieldError[] {
  const faults: FieldError[] = [];
  const type = textAt(spec, 'type');
  if (listAt(spec, 'ports').length === 0 && !isHeadless(spec) && type !== 'ExternalName')
    faults.push(fieldRequired('spec.ports'));
  if ((type === 'LoadBalancer' || type === 'NodePort') && isHeadless(spec))
    faults.push(invalidValue('spec.clusterIPs[0]', 'None', `may not be set to 'None' for ${type} services`));
  if (type !== 'ExternalName') return faults;
  for (const key of ['clusterIPs', 'ipFamilies', 'ipFamilyPolicy']) {
    if (spec[key] !== undefined) faults.push(fieldForbidden(`spec.${key}`, 'may not be set for ExternalName services'));
  }
  const name = textAt(spec, 'externalName').replace(/\.$/, '');
  if (name === '') faults.push(fieldRequired('spec.externalName'));
  else faults.push(...invalidValues('spec.externalName', name, validateDns1123Subdomain(name)));
  return faults;
}

function validatePorts(spec: Fields): FieldError[] {
  const ports = listAt(spec, 'ports');
  const names = new Set<string>();
  return ports.flatMap((port, index) => {
    const at = `spec.ports[${index}]`;
    const faults: FieldError[] = [];
    const name = textAt(port, 'name');
    if (name === '' && ports.length > 1) faults.push(fieldRequired(`${at}.name`));
    else if (name !== '') {
      faults.push(...invalidValues(`${at}.name`, name, validateDns1123Label(name)));
      if (names.has(name)) faults.push(duplicateValue(`${at}.name`, name));
      names.add(name);
    }
    faults.push(...validatePortNumber(numberAt(port, 'port') ?? 0, `${at}.port`));
    const protocol = textAt(port, 'protocol');
    if (!PROTOCOLS.includes(protocol)) faults.push(fieldNotSupported(`${at}.protocol`, protocol, PROTOCOLS));
    faults.push(...validateTargetPort(port.targetPort, `${at}.targetPort`));
    const { appProtocol } = port;
    if (typeof appProtocol === 'string')
      faults.push(...invalidValues(`${at}.appProtocol`, appProtocol, validateQualifiedName(appProtocol)));
    return faults;
  });
}

function validateTargetPort(value: unknown, at: string): FieldError[] {
  if (typeof value === 'string') return invalidValues(at, value, validatePortName(value));
  return validatePortNumber(typeof value === 'number' ? value : 0, at);
}

function validateSelector(spec: Fields): FieldError[] {
  const selector = optionalFields(spec, 'selector');
  return selector ? validateLabels(selector as Record<string, string>, 'spec.selector') : [];
}

function validateAffinity(spec: Fields): FieldError[] {
  const affinity = textAt(spec, 'sessionAffinity');
  if (affinity !== 'ClientIP' && affinity !== 'None')
    return [fieldNotSupported('spec.sessionAffinity', affinity, ['ClientIP', 'None'])];
  const config = optionalFields(spec, 'sessionAffinityConfig');
  if (affinity === 'None') {
    const detail = 'must not be set when session affinity is None';
    return config ? [fieldForbidden('spec.sessionAffinityConfig', detail)] : [];
  }
  const at = 'spec.sessionAffinityConfig.clientIP.timeoutSeconds';
  const seconds = numberAt(optionalFields(config, 'clientIP'), 'timeoutSeconds') ?? 0;
  if (seconds > 0 && seconds <= MAX_AFFINITY_SECONDS) return [];
  return [invalidValue(at, seconds, `must be greater than 0 and less than ${MAX_AFFINITY_SECONDS}`)];
}

/** Of `clusterIP`, `clusterIPs`, `ipFamilies` and `ipFamilyPolicy` together; the allocator asks this first. */
export function validateAddresses(spec: Fields, before?: Fields): FieldError[] {
  if (spec.type === 'ExternalName') return [];
  const address = textAt(spec, 'clusterIP');
  const addresses = textsAt(spec, 'clusterIPs');
  const families = textsAt(spec, 'ipFamilies');
  const faults: FieldError[] = [];
  const at = 'spec.clusterIPs';
  if (address !== '') {
    if (addresses.length === 0) faults.push(fieldRequired(at));
    else if (addresses[0] !== address) faults.push(invalidValue(at, addresses, 'first value must match `clusterIP`'));
  } else if (addresses.length > 0)
    faults.push(invalidValue(at, addresses, 'must be empty when `clusterIP` is not specified'));
  const isRepeated = seenBefore<string>();
  for (const [index, family] of families.entries()) {
    if (!FAMILIES.includes(family)) faults.push(fieldNotSupported(`spec.ipFamilies[${index}]`, family, FAMILIES));
    if (isRepeated(family)) faults.push(duplicateValue(`spec.ipFamilies[${index}]`, family));
  }
  const policy = spec.ipFamilyPolicy;
  if (typeof policy === 'string' && !FAMILY_POLICIES.includes(policy))
    faults.push(fieldNotSupported('spec.ipFamilyPolicy', policy, FAMILY_POLICIES));
  const addressFaults = addresses.flatMap((each, index) => {
    if (index === 0 && each === 'None') {
      return addresses.length > 1 ? [invalidValue(at, addresses, "'None' must be the first and only value")] : [];
    }
    return validateIp(each, `${at}[${index}]`, textsAt(before, 'clusterIPs'));
  });
  faults.push(...addressFaults);
  if (addresses.length > 2) faults.push(invalidValue(at, addresses, 'may only hold up to 2 values'));
  if (addressFaults.length > 0) return faults;
  return [...faults, ...validateFamiliesOf(addresses, families)];
}

function validateFamiliesOf(addresses: readonly string[], families: readonly string[]): FieldError[] {
  const faults: FieldError[] = [];
  const at = 'spec.clusterIPs';
  const actual = addresses.map((address) => (parseIp(address)?.family === 6 ? 'IPv6' : 'IPv4'));
  if (addresses.length > 1 && new Set(actual).size < 2)
    faults.push(invalidValue(at, addresses, 'may specify no more than one IP for each IP family'));
  if (addresses[0] === 'None') return faults;
  for (const [index, family] of families.entries()) {
    const address = addresses[index];
    if (address === undefined || actual[index] === family || !FAMILIES.includes(family)) continue;
    const detail = `expected an ${family} value as indicated by \`ipFamilies[${index}]\``;
    faults.push(invalidValue(`${at}[${index}]`, address, detail));
  }
  return faults;
}

function validateNodePorts(spec: Fields): FieldError[] {
  const ports = listAt(spec, 'ports');
  const faults: FieldError[] = [];
  if (spec.type === 'ClusterIP') {
    for (const [index, port] of ports.entries()) {
      if (!port.nodePort) continue;
      faults.push(fieldForbidden(`spec.ports[${index}].nodePort`, "may not be used when `type` is 'ClusterIP'"));
    }
  }
  const seen = new Set<string>();
  for (const [index, port] of ports.entries()) {
    const nodePort = numberAt(port, 'nodePort') ?? 0;
    if (nodePort === 0) continue;
    const key = `${textAt(port, 'protocol')}/${nodePort}`;
    if (seen.has(key)) faults.push(duplicateValue(`spec.ports[${index}].nodePort`, nodePort));
    seen.add(key);
  }
  return faults;
}

function validateDistinctPorts(spec: Fields): FieldError[] {
  const seen = new Set<string>();
  return listAt(spec, 'ports').flatMap(({ protocol, port }, index) => {
    const key = `${String(protocol)}/${String(port)}`;
    if (!seen.has(key)) return seen.add(key), [];
    return [duplicateValue(`spec.ports[${index}]`, internalForm('ServicePort', { protocol, port }))];
  });
}

function validateLoadBalancer({ metadata }: KubeObject, spec: Fields, before: Fields | undefined): FieldError[] {
  const faults: FieldError[] = [];
  const isLoadBalancer = spec.type === 'LoadBalancer';
  const ranges = textsAt(spec, 'loadBalancerSourceRanges');
  const annotation = metadata?.annotations?.[SOURCE_RANGES];
  if (ranges.length > 0) {
    const at = 'spec.LoadBalancerSourceRanges';
    if (!isLoadBalancer) faults.push(fieldForbidden(at, ONLY_LOAD_BALANCER));
    const known = new Set(textsAt(before, 'loadBalancerSourceRanges'));
    for (const [index, range] of ranges.entries()) {
      // Blanks around it are let pass, as they were in the annotation; but only there where they were before.
      if (!known.has(range)) faults.push(...validateCidr(range.trim(), `${at}[${index}]`));
    }
  } else if (annotation !== undefined) {
    const at = `metadata.annotations[${SOURCE_RANGES}]`;
    if (!isLoadBalancer) faults.push(fieldForbidden(at, ONLY_LOAD_BALANCER));
    if (annotation.trim() !== '')
      faults.push(...annotation.split(',').flatMap((range) => validateCidr(range.trim(), at)));
  }
  if (spec.allocateLoadBalancerNodePorts !== undefined && !isLoadBalancer)
    faults.push(fieldForbidden('spec.allocateLoadBalancerNodePorts', ONLY_LOAD_BALANCER));
  return [...faults, ...validateClass(spec)];
}

function validateClass({ type, loadBalancerClass }: Fields): FieldError[] {
  if (typeof loadBalancerClass !== 'string') return [];
  if (type !== 'LoadBalancer') return [fieldForbidden('spec.loadBalancerClass', ONLY_LOAD_BALANCER)];
  return invalidValues('spec.loadBalancerClass', loadBalancerClass, validateQualifiedName(loadBalancerClass));
}

function validateTrafficPolicies(spec: Fields): FieldError[] {
  const faults: FieldError[] = [];
  const external = textAt(spec, 'externalTrafficPolicy');
  const at = 'spec.externalTrafficPolicy';
  if (!isExternallyAccessible(spec)) {
    if (external !== '') faults.push(invalidValue(at, external, 'may only be set for externally-accessible services'));
  } else if (external === '') faults.push(fieldRequired(at));
  else if (!TRAFFIC_POLICIES.includes(external)) faults.push(fieldNotSupported(at, external, TRAFFIC_POLICIES));
  const port = numberAt(spec, 'healthCheckNodePort') ?? 0;
  if (needsHealthCheck(spec)) {
    if (port === 0) faults.push(fieldRequired('spec.healthCheckNodePort'));
    else faults.push(...validatePortNumber(port, 'spec.healthCheckNodePort'));
  } else if (port !== 0) {
    const detail = "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'";
    faults.push(invalidValue('spec.healthCheckNodePort', port, detail));
  }
  const internal = spec.internalTrafficPolicy;
  if (typeof internal === 'string' && !TRAFFIC_POLICIES.includes(internal))
    faults.push(fieldNotSupported('spec.internalTrafficPolicy', internal, TRAFFIC_POLICIES));
  else if (internal === undefined && spec.type !== 'ExternalName' && TYPES.includes(textAt(spec, 'type')))
    faults.push(fieldRequired('spec.internalTrafficPolicy'));
  const distribution = spec.trafficDistribution;
  if (typeof distribution === 'string' && !DISTRIBUTIONS.includes(distribution))
    faults.push(fieldNotSupported('spec.trafficDistribution', distribution, DISTRIBUTIONS));
  return faults;
}

/** Addresses may be added and removed at the end, but not change, unless from or to ExternalName. */
function validateAddressChange(spec: Fields, before: Fields): FieldError[] {
  if (spec.type === 'ExternalName' || before.type === 'ExternalName') return [];
  if (isHeadless(spec) && isHeadless(before)) return [];
  const now = textsAt(spec, 'clusterIPs');
  const was = textsAt(before, 'clusterIPs');
  const changed = (index: number): FieldError =>
    invalidValue(`spec.clusterIPs[${index}]`, now, 'may not change once set');
  if (was.length === now.length) return was.flatMap((ip, index) => (ip === now[index] ? [] : [changed(index)]));
  const faults: FieldError[] = [];
  if (now.length === 0) faults.push(invalidValue('spec.clusterIPs[0]', null, 'primary clusterIP can not be unset'));
  else if (was.length > 0 && was[0] !== now[0]) faults.push(changed(0));
  if (was.length > now.length && now.length === 1 && spec.ipFamilyPolicy !== 'SingleStack') {
    const detail = "must be set to 'SingleStack' when releasing the secondary clusterIP";
    faults.push(invalidValue('spec.ipFamilyPolicy', spec.ipFamilyPolicy ?? null, detail));
  }
  return faults;
}

function validateFamilyChange(spec: Fields, before: Fields): FieldError[] {
  if (spec.type === 'ExternalName' || before.type === 'ExternalName') return [];
  if (isHeadless(spec) || isHeadless(before)) return [];
  const now = textsAt(spec, 'ipFamilies');
  const was = textsAt(before, 'ipFamilies');
  const at = 'spec.ipFamilies[0]';
  if (was.length === now.length)
    return was.flatMap((family, index) =>
      family === now[index] ? [] : [invalidValue(at, now, 'may not change once set')],
    );
  const faults: FieldError[] = [];
  if (was.length > 0 && now.length > 0 && was[0] !== now[0])
    faults.push(invalidValue(at, textsAt(spec, 'clusterIPs'), 'may not change once set'));
  if (was.length > now.length && now.length === 1 && spec.ipFamilyPolicy !== 'SingleStack') {
    const detail = "must be set to 'SingleStack' when releasing the secondary ipFamily";
    faults.push(invalidValue('spec.ipFamilyPolicy', spec.ipFamilyPolicy ?? null, detail));
  }
  return faults;
}
