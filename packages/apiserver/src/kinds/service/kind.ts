import { deepEqual, type KubeObject, validateDns1123Label } from '@asterism/machinery';
import { allocateForService } from './allocate-for-service.ts';
import {
  type Fields,
  fieldsAt,
  listAt,
  numberAt,
  optionalFields,
  setDefaults,
  setDefaultText,
  textAt,
  textsAt,
} from '../fields/draft-fields.ts';
import { cidrWarnings, ipWarnings } from '../ip/ip-address.ts';
import type { ServiceAllocator } from './service-allocator.ts';
import {
  isExternallyAccessible,
  needsHealthCheck,
  validateService,
  validateServiceStatus,
  validateServiceUpdate,
} from './validation.ts';
import type { Kind } from '../../contract/kind.ts';
import type { Draft } from '../../contract/strategy.ts';

/** Three hours. */
const CLIENT_IP_TIMEOUT_SECONDS = 10_800;
const TOPOLOGY_HINTS = 'service.kubernetes.io/topology-aware-hints';

export function createServiceKind(allocator: ServiceAllocator): Kind {
  return {
    groupResource: 'services',
    strategy: {
      createOnUpdate: true,
      returnsDeleted: true,
      metadataChecks: 4,
      validateName: validateDns1123Label,
      selectableFields: {
        'spec.clusterIP': (object) => textAt(optionalFields(object, 'spec'), 'clusterIP'),
        'spec.type': (object) => textAt(optionalFields(object, 'spec'), 'type'),
      },
      applyDefaults: defaultService,

      prepareForCreate(draft, context) {
        syncAddresses(fieldsAt(draft, 'spec'), undefined);
        allocateForService(draft, undefined, { allocator, context });
      },
      prepareForUpdate(draft, old, context) {
        const spec = fieldsAt(draft, 'spec');
        const before = optionalFields(old, 'spec') ?? {};
        keepAllocated(spec, before);
        syncAddresses(spec, before);
        allocateForService(draft, old, { allocator, context });
        dropWhatTypeHasNot(spec, before);
      },
      validateCreate: (object) => validateService(object),
      validateUpdate: validateServiceUpdate,
      validateStatus: validateServiceStatus,
      warnings: serviceWarnings,
      companions: (object, old) => allocator.companions(object, old),
    },
  };
}

function defaultService(draft: Draft): void {
  const spec = fieldsAt(draft, 'spec');
  setDefaultText(spec, 'sessionAffinity', 'None');
  if (spec.sessionAffinity === 'None') delete spec.sessionAffinityConfig;
  if (spec.sessionAffinity === 'ClientIP') {
    const clientIP = optionalFields(optionalFields(spec, 'sessionAffinityConfig'), 'clientIP');
    if (clientIP?.timeoutSeconds === undefined) {
      spec.sessionAffinityConfig = { clientIP: { timeoutSeconds: CLIENT_IP_TIMEOUT_SECONDS } };
    }
  }
  setDefaultText(spec, 'type', 'ClusterIP');
  for (const port of listAt(spec, 'ports')) {
    setDefaultText(port, 'protocol', 'TCP');
    if (port.targetPort === undefined || port.targetPort === 0 || port.targetPort === '') port.targetPort = port.port;
  }
  if (isExternallyAccessible(spec)) setDefaultText(spec, 'externalTrafficPolicy', 'Cluster');
  if (['ClusterIP', 'NodePort', 'LoadBalancer'].includes(textAt(spec, 'type')))
    setDefaults(spec, { internalTrafficPolicy: 'Cluster' });
  if (spec.type !== 'LoadBalancer') return;
  setDefaults(spec, { allocateLoadBalancerNodePorts: true });
  for (const ingress of listAt(optionalFields(optionalFields(draft, 'status'), 'loadBalancer'), 'ingress')) {
    if (textAt(ingress, 'ip') !== '') setDefaults(ingress, { ipMode: 'VIP' });
  }
}

function hasAddress({ type }: Fields): boolean {
  return type === 'ClusterIP' || type === 'NodePort' || type === 'LoadBalancer';
}

function hasNodePorts({ type }: Fields): boolean {
  return type === 'NodePort' || type === 'LoadBalancer';
}

/** An update that leaves out what was allocated keeps it, as long as the type still has such a thing. */
function keepAllocated(spec: Fields, old: Fields): void {
  if (hasAddress(spec) && hasAddress(old)) {
    if (!spec.clusterIP && old.clusterIP) spec.clusterIP = old.clusterIP;
    if (textsAt(spec, 'clusterIPs').length === 0 && old.clusterIPs && spec.clusterIP === old.clusterIP)
      spec.clusterIPs = old.clusterIPs;
  }
  if (hasNodePorts(spec) && hasNodePorts(old)) keepNodePorts(listAt(spec, 'ports'), listAt(old, 'ports'));
  if (needsHealthCheck(spec) && needsHealthCheck(old) && old.healthCheckNodePort)
    spec.healthCheckNodePort ||= old.healthCheckNodePort;
}

/** By the name of the port; a number that another port has taken meanwhile stays there. */
function keepNodePorts(ports: readonly Fields[], old: readonly Fields[]): void {
  const had = new Map(old.map(({ name = '', nodePort }) => [name, nodePort]));
  const used = new Set(ports.map(({ nodePort }) => nodePort).filter((port) => port));
  for (const port of ports) {
    const before = had.get(port.name ?? '');
    if (port.nodePort || !before || used.has(before)) continue;
    port.nodePort = before;
    used.add(before);
  }
}

/** `clusterIP` and the first of `clusterIPs` are the same; a client may know the older field alone. */
function syncAddresses(spec: Fields, old: Fields | undefined): void {
  const address = textAt(spec, 'clusterIP');
  const addresses = textsAt(spec, 'clusterIPs');
  if (address !== '' && addresses.length === 0) spec.clusterIPs = [address];
  const before = textAt(old, 'clusterIP');
  if (!old || before === '' || before === address || !deepEqual(addresses, textsAt(old, 'clusterIPs'))) return;
  if (address === '') delete spec.clusterIPs;
  else spec.clusterIPs = [address];
}

/** What only the old type has goes with it, where the client did not speak of it. */
function dropWhatTypeHasNot(spec: Fields, old: Fields): void {
  const drop = (key: string): void => {
    if (deepEqual(spec[key] ?? null, old[key] ?? null)) delete spec[key];
  };
  if (hasAddress(old) && !hasAddress(spec)) {
    for (const key of ['clusterIP', 'clusterIPs', 'ipFamilies', 'ipFamilyPolicy']) drop(key);
  }
  if (hasNodePorts(old) && !hasNodePorts(spec) && sameNodePorts(spec, old)) {
    for (const port of listAt(spec, 'ports')) delete port.nodePort;
  }
  if (needsHealthCheck(old) && !needsHealthCheck(spec)) drop('healthCheckNodePort');
  if (old.type === 'LoadBalancer' && spec.type !== 'LoadBalancer') {
    drop('allocateLoadBalancerNodePorts');
    drop('loadBalancerClass');
  }
  if (isExternallyAccessible(old) && !isExternallyAccessible(spec)) drop('externalTrafficPolicy');
}

function sameNodePorts(spec: Fields, old: Fields): boolean {
  const portsOf = (fields: Fields): number[] =>
    listAt(fields, 'ports')
      .map((port) => numberAt(port, 'nodePort') ?? 0)
      .sort((a, b) => a - b);
  return deepEqual(portsOf(spec), portsOf(old));
}

function serviceWarnings({ metadata, spec = {} }: KubeObject & { spec?: Fields }): string[] {
  const warnings: string[] = [];
  const headless = spec.type === 'ClusterIP' && spec.clusterIP === 'None';
  const externalIPs = textsAt(spec, 'externalIPs');
  if (metadata?.annotations?.[TOPOLOGY_HINTS] !== undefined) {
    warnings.push(`annotation ${TOPOLOGY_HINTS} is deprecated, please use service.kubernetes.io/topology-mode instead`);
  }
  if (spec.type !== 'ExternalName' && spec.clusterIP && spec.clusterIP !== 'None')
    warnings.push(...textsAt(spec, 'clusterIPs').flatMap((ip, index) => ipWarnings(ip, `spec.clusterIPs[${index}]`)));
  if (headless) {
    if (textAt(spec, 'loadBalancerIP') !== '') warnings.push('spec.loadBalancerIP is ignored for headless services');
    if (externalIPs.length > 0) warnings.push('spec.externalIPs is ignored for headless services');
    if (spec.sessionAffinity !== 'None') warnings.push('spec.SessionAffinity is ignored for headless services');
  }
  warnings.push(...externalIPs.flatMap((ip, index) => ipWarnings(ip, `spec.externalIPs[${index}]`)));
  if (externalIPs.length > 0 && !headless && spec.type !== 'ExternalName')
    warnings.push('spec.externalIPs is deprecated and may no longer be implemented in some clusters');
  if (textAt(spec, 'loadBalancerIP') !== '')
    warnings.push(...ipWarnings(textAt(spec, 'loadBalancerIP'), 'spec.loadBalancerIP'));
  for (const [index, range] of textsAt(spec, 'loadBalancerSourceRanges').entries())
    warnings.push(...cidrWarnings(range, `spec.loadBalancerSourceRanges[${index}]`));
  if (spec.type === 'ExternalName' && externalIPs.length > 0)
    warnings.push('spec.externalIPs is ignored when spec.type is "ExternalName"');
  if (spec.type !== 'ExternalName' && textAt(spec, 'externalName') !== '')
    warnings.push('spec.externalName is ignored when spec.type is not "ExternalName"');
  if (spec.trafficDistribution === 'PreferClose')
    warnings.push('spec.trafficDistribution: "PreferClose" is deprecated; use "PreferSameZone"');
  return warnings;
}
