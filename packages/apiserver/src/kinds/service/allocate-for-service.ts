import { failure, type FieldError, invalid, type KubeObject, seenBefore } from '@asterism/machinery';
import { type Fields, fieldsAt, listAt, numberAt, optionalFields, textAt, textsAt } from '../fields/draft-fields.ts';
import { parseIp } from '../ip/ip-address.ts';
import type { Allocation, ServiceAllocator } from './service-allocator.ts';
import { isHeadless, needsHealthCheck, validateAddresses, validateService } from './validation.ts';
import type { Draft, StrategyContext } from '../../contract/strategy.ts';
import { invalidValue } from '../../registry/invalid-value.ts';

interface Allocating {
  draft: Draft;
  spec: Fields;
  before: Fields | undefined;
  allocator: ServiceAllocator;
  allocation: Allocation;
}

/**
 * Fills in families, addresses and node ports, before the Service as a whole is checked, as upstream: the faults found here
 * come alone, as a 422 that is thrown. What a Service was given that will be refused is free again at once.
 */
export function allocateForService(
  draft: Draft,
  old: KubeObject | undefined,
  { allocator, context }: { allocator: ServiceAllocator; context: StrategyContext },
): void {
  const spec = fieldsAt(draft, 'spec');
  const before = optionalFields(old, 'spec');
  const owner = `${draft.metadata.namespace ?? ''}/${draft.metadata.name ?? ''}`;
  const allocating = { draft, spec, before, allocator, allocation: { owner, dryRun: context.dryRun } };
  let isSound = false;
  try {
    settleFamilies(allocating);
    allocateAddress(allocating);
    allocateNodePorts(allocating);
    allocateHealthCheckPort(allocating);
    isSound = validateService(draft, old).length === 0;
  } finally {
    if (!isSound) allocator.release(owner);
  }
}

function refuse(draft: Draft, faults: readonly FieldError[]): void {
  if (faults.length > 0) throw invalid({ group: '', kind: 'Service' }, draft.metadata.name ?? '', faults);
}

/** The families and their policy; the range of this server is of IPv4. */
function settleFamilies({ draft, spec, before }: Allocating): void {
  if (spec.type === 'ExternalName') return;
  const selectorless = Object.keys(optionalFields(spec, 'selector') ?? {}).length === 0;
  const headless = spec.clusterIP === 'None';
  spec.ipFamilyPolicy ??= before?.ipFamilyPolicy ?? (headless && selectorless ? 'RequireDualStack' : 'SingleStack');
  refuse(draft, validateAddresses(spec, before));
  const addresses = textsAt(spec, 'clusterIPs');
  const families = textsAt(spec, 'ipFamilies');
  refuse(draft, validatePolicies(spec, before));
  for (const [index, address] of addresses.entries()) {
    if (address === 'None' || index < families.length) continue;
    const family = parseIp(address)?.family === 6 ? 'IPv6' : 'IPv4';
    if (family === 'IPv6')
      refuse(draft, [invalidValue(`spec.clusterIPs[${index}]`, addresses, 'IPv6 is not configured on this cluster')]);
    families.push(family);
  }
  if (families.length === 0) families.push(...keptFamilies(before));
  spec.ipFamilies = families;
  if (headless && selectorless) {
    if (families.length < 2 && spec.ipFamilyPolicy !== 'SingleStack')
      families.push(families[0] === 'IPv4' ? 'IPv6' : 'IPv4');
    return;
  }
  const faults: FieldError[] = [];
  if (spec.ipFamilyPolicy === 'RequireDualStack') {
    const detail = 'this cluster is not configured for dual-stack services';
    faults.push(invalidValue('spec.ipFamilyPolicy', spec.ipFamilyPolicy, detail));
  }
  for (const [index, family] of families.entries()) {
    if (family !== 'IPv4')
      faults.push(invalidValue(`spec.ipFamilies[${index}]`, family, 'not configured on this cluster'));
  }
  refuse(draft, faults);
}

function keptFamilies(before: Fields | undefined): string[] {
  const had = before?.type === 'ExternalName' ? [] : textsAt(before, 'ipFamilies');
  return had.length > 0 ? had : ['IPv4'];
}

function validatePolicies(spec: Fields, before: Fields | undefined): FieldError[] {
  const policy = spec.ipFamilyPolicy;
  const at = 'spec.ipFamilyPolicy';
  const count = (fields: Fields | undefined, key: string): number => textsAt(fields, key).length;
  const faults: FieldError[] = [];
  if (policy !== 'SingleStack') {
    if (count(before, 'clusterIPs') > count(spec, 'clusterIPs') && count(spec, 'clusterIPs') === 1)
      faults.push(invalidValue(at, policy, "must be 'SingleStack' to release the secondary cluster IP"));
    if (count(before, 'ipFamilies') > count(spec, 'ipFamilies') && count(spec, 'ipFamilies') === 1)
      faults.push(invalidValue(at, policy, "must be 'SingleStack' to release the secondary IP family"));
    return faults;
  }
  if (before) {
    for (const key of ['clusterIPs', 'ipFamilies']) {
      const now = textsAt(spec, key);
      if (now.length > 1 && now.join() === textsAt(before, key).join()) spec[key] = now.slice(0, 1);
    }
  }
  const detail = "must be 'RequireDualStack' or 'PreferDualStack' when multiple";
  if (count(spec, 'clusterIPs') === 2) faults.push(invalidValue(at, policy, `${detail} cluster IPs are specified`));
  if (count(spec, 'ipFamilies') === 2) faults.push(invalidValue(at, policy, `${detail} IP families are specified`));
  return faults;
}

function allocateAddress({ draft, spec, before, allocator, allocation }: Allocating): void {
  if (spec.type === 'ExternalName' || isHeadless(spec)) return;
  const wanted = textAt(spec, 'clusterIP');
  const had = before?.type === 'ExternalName' ? '' : textAt(before, 'clusterIP');
  // Another address than before is for validation to refuse, not for the allocator to find free or taken.
  if (had !== '') return;
  if (wanted !== '') {
    const taken = allocator.takeAddress(wanted, allocation);
    if (taken === true) return;
    const detail = `failed to allocate IP ${wanted}: ${taken}`;
    refuse(draft, [invalidValue('spec.clusterIPs', textsAt(spec, 'clusterIPs'), detail)]);
  }
  spec.clusterIP = allocator.nextAddress(allocation);
  spec.clusterIPs = [spec.clusterIP];
}

function allocateNodePorts({ draft, spec, before, allocator, allocation }: Allocating): void {
  if (spec.type !== 'NodePort' && spec.type !== 'LoadBalancer') return;
  const wanted = spec.type === 'NodePort' || spec.allocateLoadBalancerNodePorts !== false;
  const ports = listAt(spec, 'ports');
  const had = new Set(
    listAt(before, 'ports').map(({ protocol, nodePort }) => `${String(protocol)}/${String(nodePort)}`),
  );
  // Ports of one number and several protocols share their node port.
  const byPort = new Map<unknown, number>();
  const mine = new Set<number>();
  const isRepeated = seenBefore<string>();
  const givenByPort = new Map<unknown, number>();
  for (const each of ports.toReversed()) {
    const given = numberAt(each, 'nodePort') ?? 0;
    if (given > 0) givenByPort.set(each.port, given);
  }
  for (const [index, port] of ports.entries()) {
    const asked = numberAt(port, 'nodePort') ?? 0;
    const isSecond = isRepeated(`${String(port.protocol)}/${String(port.port)}`);
    if (asked === 0 && !wanted) continue;
    if (asked !== 0 && had.has(`${String(port.protocol)}/${asked}`)) {
      byPort.set(port.port, asked);
      continue;
    }
    // Two alike are refused afterwards, and not for a node port that the client did not ask for.
    const shared = byPort.get(port.port) || givenByPort.get(port.port);
    const number = asked || (isSecond ? 0 : (shared ?? 0));
    if (number === 0) port.nodePort = nextPort(allocator, allocation, mine);
    else if (byPort.get(port.port) === number) port.nodePort = number;
    else {
      const taken = mine.has(number) || allocator.takeNodePort(number, allocation);
      const detail = mine.has(number) ? 'provided port is already allocated' : taken;
      if (detail !== true) refuse(draft, [invalidValue(`spec.ports[${index}].nodePort`, number, String(detail))]);
      port.nodePort = number;
    }
    byPort.set(port.port, port.nodePort as number);
    mine.add(port.nodePort as number);
  }
}

/** The allocator of a dry run gives everybody the same number; here they are told apart. */
function nextPort(allocator: ServiceAllocator, allocation: Allocation, mine: ReadonlySet<number>): number {
  let port = allocator.nextNodePort(allocation);
  while (allocation.dryRun && mine.has(port)) port++;
  return port;
}

function allocateHealthCheckPort({ spec, before, allocator, allocation }: Allocating): void {
  if (!needsHealthCheck(spec) || (before && needsHealthCheck(before))) return;
  const asked = numberAt(spec, 'healthCheckNodePort') ?? 0;
  if (asked === 0) {
    spec.healthCheckNodePort = allocator.nextNodePort(allocation);
    return;
  }
  const taken = allocator.takeNodePort(asked, allocation);
  if (taken !== true) {
    throw failure(500, `Internal error occurred: failed to allocate requested HealthCheck NodePort ${asked}: ${taken}`);
  }
}
