import { isJsonObject, type KubeObject, type ManagedFieldsEntry, parseJson } from '@asterism/machinery';

/** A port of a Service, so far as it matters which of them it is. */
interface Port {
  port?: unknown;
  protocol?: unknown;
  nodePort?: unknown;
}

/** Whether it is a Service with ports of the nodes, of which an API server chooses those that nobody names. */
export function hasNodePorts(object: KubeObject): boolean {
  return portsOf(object).some(({ nodePort }) => nodePort !== undefined);
}

/**
 * A Service without the node ports that its API server has chosen: each member chooses its own, which may be taken in another. Those that
 * somebody named stay. Which is which stand in `managedFields`: nobody owns what the API server allocates. Without them nothing is known,
 * and all stay.
 */
export function withoutAllocatedPorts(object: KubeObject): KubeObject {
  const { managedFields } = object.metadata ?? {};
  if (!managedFields || !hasNodePorts(object)) return object;
  const named = managedFields.flatMap(namedPorts);
  const isNamed = ({ port, protocol = 'TCP' }: Port): boolean =>
    named.some((each) => each.port === port && (each.protocol ?? 'TCP') === protocol);
  const ports = portsOf(object).map(({ nodePort, ...port }) => (isNamed(port) ? { ...port, nodePort } : port));
  return { ...object, spec: { ...(object['spec'] as object), ports } };
}

function portsOf({ apiVersion, kind, spec }: KubeObject): readonly Port[] {
  if (apiVersion !== 'v1' || kind !== 'Service' || !isJsonObject(spec) || !Array.isArray(spec['ports'])) return [];
  return spec['ports'].filter(isJsonObject);
}

/** The ports of which a manager has named the node's, by the keys that server-side apply gives them: `k:{"port":80,"protocol":"TCP"}`. */
function namedPorts({ fieldsV1, subresource }: ManagedFieldsEntry): Port[] {
  const fields = subresource ? undefined : at(at(fieldsV1, 'f:spec'), 'f:ports');
  return Object.entries(fields ?? {})
    .filter(([key, owned]) => key.startsWith('k:') && at(owned, 'f:nodePort') !== undefined)
    .map(([key]) => parseJson(key.slice('k:'.length)) as Port);
}

function at(fields: unknown, name: string): Readonly<Record<string, unknown>> | undefined {
  const value = isJsonObject(fields) ? fields[name] : undefined;
  return isJsonObject(value) ? value : undefined;
}
