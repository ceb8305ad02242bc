import type { Container, ContainerPort, EphemeralContainer, PodSpec } from '@asterism/machinery';
import type { FieldPath } from '../validation/field-path.ts';
import { isFractional } from './validate-resources.ts';
import { eachContainer } from './each-container.ts';
import { fractional } from './warn-volumes.ts';

/** Amounts of bytes that are no whole number. */
export function warnFractions(resources: Container['resources'], at: () => FieldPath, warnings: string[]): void {
  for (const list of ['limits', 'requests'] as const) {
    for (const name of ['memory', 'ephemeral-storage']) {
      const amount = resources?.[list]?.[name];
      if (amount === undefined || !isFractional(amount)) continue;
      warnings.push(fractional(at().child('resources').child(list).key(name), amount));
    }
  }
}

/** A variable that takes the place of an earlier one of the same name, without use of what that was. */
export function warnVariables(
  { env = [] }: Container | EphemeralContainer,
  at: () => FieldPath,
  warnings: string[],
): void {
  if (env.length < 2) return;
  const names = new Set<string>();
  for (const [index, { name = '', value = '', valueFrom }] of env.entries()) {
    if (!names.has(name)) {
      names.add(name);
      continue;
    }
    const reference = `$(${name})`;
    if (!valueFrom && value !== reference && value.includes(reference)) continue;
    const place = at().child('env').index(index);
    warnings.push(
      `${place.toString()}: hides previous definition of ${JSON.stringify(name)}, which may be dropped when using apply`,
    );
  }
}

interface Place {
  at: FieldPath;
  port: ContainerPort;
}

/** Of ports that are alike, each is compared with so many before it: the warnings of more do not fit into an answer. */
const MOST_COMPARED = 20;

/** Ports that are defined twice, perhaps by two containers. */
export function warnPorts(spec: PodSpec, at: FieldPath, warnings: string[]): void {
  const known = new Map<string, Place[]>();
  eachContainer(spec, at, ({ ports }, place) => {
    if (!ports) return;
    for (const [index, port] of ports.entries()) {
      const where = place().child('ports').index(index);
      if (port.hostIP && !port.hostPort)
        warnings.push(`${where.toString()}: hostIP set without hostPort: ${goForm(port)}`);
      const key = `${port.containerPort}/${port.protocol}`;
      const others = known.get(key) ?? [];
      for (const other of others) {
        const conflict = conflictOf(port, other.port);
        if (conflict) warnings.push(`${where.toString()}: ${conflict} port definition with ${other.at.toString()}`);
      }
      if (others.length < MOST_COMPARED) others.push({ at: where, port });
      known.set(key, others);
    }
  });
}

function conflictOf(port: ContainerPort, other: ContainerPort): string | undefined {
  const { hostIP = '', hostPort = 0 } = port;
  const { hostIP: otherIP = '', hostPort: otherPort = 0 } = other;
  if (hostIP === otherIP && hostPort === otherPort) return 'duplicate';
  if (hostPort === 0 || otherPort === 0) return 'overlapping';
  return hostPort === otherPort && (hostIP === '') !== (otherIP === '') ? 'dangerously ambiguous' : undefined;
}

function goForm({ name = '', hostPort = 0, containerPort, protocol, hostIP = '' }: ContainerPort): string {
  return `{Name:${name} HostPort:${hostPort} ContainerPort:${containerPort} Protocol:${protocol ?? ''} HostIP:${hostIP}}`;
}
