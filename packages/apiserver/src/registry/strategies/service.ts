import { type FieldError, invalid, type KubeObject, validateDns1123Label } from '@asterism/machinery';
import { type Draft, invalidValue, required, type Strategy } from '../strategy.ts';
import {
  type Fields,
  fieldsAt,
  listAt,
  numberAt,
  optionalFields,
  setDefaults,
  setDefaultText,
  textAt,
} from './draft-fields.ts';
import { validatePort } from './validate-pod-template.ts';

/** Hands out what only one Service can have. Numbers and addresses in use are those of stored Services. */
export interface ServiceAllocator {
  /** A free address of the range. Throws 500 where there is none. */
  nextAddress(): string;
  /** Takes this address; false where another Service has it, or (the text) why it cannot be one. */
  takeAddress(address: string): true | string;
  nextNodePort(): number;
  takeNodePort(port: number): true | string;
}

/** Three hours. */
const CLIENT_IP_TIMEOUT_SECONDS = 10_800;

export function createServiceStrategy(allocator: ServiceAllocator): Strategy {
  return {
    validateName: validateDns1123Label,
    selectableFields: {
      'spec.clusterIP': (object) => textAt(optionalFields(object, 'spec'), 'clusterIP'),
      'spec.type': (object) => textAt(optionalFields(object, 'spec'), 'type'),
    },
    applyDefaults: defaultService,
    prepareForCreate: (draft) => allocate(draft, undefined, allocator),
    prepareForUpdate(draft, old) {
      keepAllocated(fieldsAt(draft, 'spec'), optionalFields(old, 'spec') ?? {});
      allocate(draft, old, allocator);
    },
    validate: validateService,
    validateUpdate(object, old) {
      const now = optionalFields(object, 'spec');
      const before = optionalFields(old, 'spec');
      const address = textAt(before, 'clusterIP');
      if (now?.type === 'ExternalName' || before?.type === 'ExternalName' || address === '') return [];
      if (textAt(now, 'clusterIP') === address) return [];
      return [invalidValue('spec.clusterIPs[0]', now?.clusterIPs ?? null, 'may not change once set')];
    },
  };
}

function defaultService(draft: Draft): void {
  const spec = fieldsAt(draft, 'spec');
  setDefaultText(spec, 'type', 'ClusterIP');
  setDefaultText(spec, 'sessionAffinity', 'None');
  if (spec.sessionAffinity === 'ClientIP') {
    const clientIP = fieldsAt(fieldsAt(spec, 'sessionAffinityConfig'), 'clientIP');
    setDefaults(clientIP, { timeoutSeconds: CLIENT_IP_TIMEOUT_SECONDS });
  } else delete spec.sessionAffinityConfig;
  for (const port of listAt(spec, 'ports')) {
    setDefaultText(port, 'protocol', 'TCP');
    if (!port.targetPort) port.targetPort = port.port;
  }
  if (isExternal(spec)) setDefaultText(spec, 'externalTrafficPolicy', 'Cluster');
  if (spec.type === 'LoadBalancer') setDefaults(spec, { allocateLoadBalancerNodePorts: true });
  if (spec.type !== 'ExternalName') setDefaultText(spec, 'internalTrafficPolicy', 'Cluster');
}

function isExternal({ type }: Fields): boolean {
  return type === 'NodePort' || type === 'LoadBalancer';
}

/** An update that leaves out what was allocated keeps it, as long as the type still has such a thing. */
function keepAllocated(spec: Fields, old: Fields): void {
  if (spec.type === 'ExternalName' || old.type === 'ExternalName') return;
  if (!spec.clusterIP && !Array.isArray(spec.clusterIPs)) {
    if (old.clusterIP) spec.clusterIP = old.clusterIP;
    if (old.clusterIPs) spec.clusterIPs = old.clusterIPs;
  } else if (spec.clusterIP && !Array.isArray(spec.clusterIPs) && spec.clusterIP === old.clusterIP) {
    spec.clusterIPs = old.clusterIPs;
  }
  for (const key of ['ipFamilies', 'ipFamilyPolicy']) if (old[key] !== undefined) spec[key] ??= old[key];
  if (!isExternal(spec) || !isExternal(old)) return;
  const before = listAt(old, 'ports');
  for (const port of listAt(spec, 'ports')) {
    const same = before.find((each) => each.port === port.port && each.protocol === port.protocol);
    if (!port.nodePort && same?.nodePort) port.nodePort = same.nodePort;
  }
  if (old.healthCheckNodePort && spec.externalTrafficPolicy === 'Local')
    setDefaults(spec, { healthCheckNodePort: old.healthCheckNodePort });
}

function allocate(draft: Draft, old: KubeObject | undefined, allocator: ServiceAllocator): void {
  const spec = fieldsAt(draft, 'spec');
  const before = optionalFields(old, 'spec') ?? {};
  if (spec.type === 'ExternalName') {
    for (const key of ['clusterIP', 'clusterIPs', 'ipFamilies', 'ipFamilyPolicy', 'internalTrafficPolicy'])
      delete spec[key];
  } else {
    allocateAddress(spec, before, draft, allocator);
    setDefaults(spec, { ipFamilies: [textAt(spec, 'clusterIP').includes(':') ? 'IPv6' : 'IPv4'] });
    setDefaultText(spec, 'ipFamilyPolicy', 'SingleStack');
  }
  allocateNodePorts(spec, before, draft, allocator);
}

function allocateAddress(spec: Fields, before: Fields, draft: Draft, allocator: ServiceAllocator): void {
  const [first] = Array.isArray(spec.clusterIPs) ? (spec.clusterIPs as string[]) : [];
  const wanted = textAt(spec, 'clusterIP') || first || '';
  const had = textAt(before, 'clusterIP');
  // Another address than before is for validation to refuse, not for the allocator to find free or taken.
  if (wanted !== '' && had !== '' && wanted !== had) return;
  const address = wanted || allocator.nextAddress();
  spec.clusterIP = address;
  spec.clusterIPs = [address];
  if (wanted === '' || wanted === 'None' || wanted === had) return;
  const taken = allocator.takeAddress(wanted);
  if (taken !== true) throw refused(draft, 'spec.clusterIPs', [wanted], taken);
}

function allocateNodePorts(spec: Fields, before: Fields, draft: Draft, allocator: ServiceAllocator): void {
  if (!isExternal(spec)) {
    for (const port of listAt(spec, 'ports')) delete port.nodePort;
    delete spec.healthCheckNodePort;
    delete spec.externalTrafficPolicy;
    return;
  }
  const had = new Set(listAt(before, 'ports').map(({ nodePort }) => nodePort));
  const wanted = spec.type === 'NodePort' || spec.allocateLoadBalancerNodePorts !== false;
  for (const [index, port] of listAt(spec, 'ports').entries()) {
    const number = numberAt(port, 'nodePort') ?? 0;
    if (number === 0) {
      if (wanted) port.nodePort = allocator.nextNodePort();
    } else if (!had.has(number)) {
      const taken = allocator.takeNodePort(number);
      if (taken !== true) throw refused(draft, `spec.ports[${index}].nodePort`, number, taken);
    }
  }
  if (spec.type === 'LoadBalancer' && spec.externalTrafficPolicy === 'Local') {
    if (!spec.healthCheckNodePort) spec.healthCheckNodePort = allocator.nextNodePort();
  } else delete spec.healthCheckNodePort;
}

/** 422 for what only the allocator knows. */
function refused(draft: Draft, field: string, value: unknown, why: string): Error {
  return invalid({ group: '', kind: 'Service' }, draft.metadata.name ?? '', [invalidValue(field, value, why)]);
}

function validateService(object: KubeObject): FieldError[] {
  const spec = optionalFields(object, 'spec');
  const ports = listAt(spec, 'ports');
  const errors: FieldError[] = [];
  const headless = spec?.clusterIP === 'None';
  if (ports.length === 0 && !headless && spec?.type !== 'ExternalName') errors.push(required('spec.ports'));
  if (spec?.type === 'ExternalName' && !spec.externalName) errors.push(required('spec.externalName'));
  const names = new Set<string>();
  const numbers = new Set<string>();
  for (const [index, port] of ports.entries()) {
    const at = `spec.ports[${index}]`;
    const name = textAt(port, 'name');
    if (name === '' && ports.length > 1) errors.push(required(`${at}.name`));
    else if (name !== '') {
      errors.push(...validateDns1123Label(name).map((fault) => invalidValue(`${at}.name`, name, fault)));
      if (names.has(name))
        errors.push({
          type: 'FieldValueDuplicate',
          field: `${at}.name`,
          message: `Duplicate value: ${JSON.stringify(name)}`,
        });
    }
    names.add(name);
    errors.push(...validatePort(numberAt(port, 'port') ?? 0, `${at}.port`));
    if (typeof port.targetPort === 'number') errors.push(...validatePort(port.targetPort, `${at}.targetPort`));
    const key = `${String(port.protocol)}/${String(port.port)}`;
    if (numbers.has(key)) {
      const value = `{"protocol":${JSON.stringify(port.protocol)},"port":${String(port.port)}}`;
      errors.push({ type: 'FieldValueDuplicate', field: at, message: `Duplicate value: ${value}` });
    }
    numbers.add(key);
  }
  return errors;
}
