import type { Container, EnvVar, Pod } from '@asterism/machinery';
import { expandVariables } from './expand-variables.ts';
import { podField, type PodPlace, resourceField } from './pod-field.ts';
import type { ObjectData, SourceRef } from './object-source.ts';

/** A container cannot be made as its pod says; in a kubelet's words. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

export interface PodInputs {
  pod: Pod;
  place: PodPlace;
  objects: { get(ref: SourceRef): Promise<ObjectData | undefined> };
}

/** What every container of a cluster has: where its API server is. */
const API_SERVER: Readonly<Record<string, string>> = {
  KUBERNETES_SERVICE_HOST: '10.96.0.1',
  KUBERNETES_SERVICE_PORT: '443',
  KUBERNETES_SERVICE_PORT_HTTPS: '443',
  KUBERNETES_PORT: 'tcp://10.96.0.1:443',
  KUBERNETES_PORT_443_TCP: 'tcp://10.96.0.1:443',
  KUBERNETES_PORT_443_TCP_PROTO: 'tcp',
  KUBERNETES_PORT_443_TCP_PORT: '443',
  KUBERNETES_PORT_443_TCP_ADDR: '10.96.0.1',
};

/**
 * The environment of a container: `envFrom` first, then `env` in order, each of which may name those before it. Rejects with a
 * {@link ConfigError} where it names something that is not there.
 */
export async function containerEnvironment(
  container: Container,
  inputs: PodInputs,
): Promise<Readonly<Record<string, string>>> {
  const { env = [], envFrom = [] } = container;
  if (env.length + envFrom.length === 0) return API_SERVER;
  const result: Record<string, string> = { ...API_SERVER };
  for (const { prefix = '', configMapRef, secretRef } of envFrom) {
    const data = configMapRef
      ? await find(inputs, 'ConfigMap', configMapRef)
      : await find(inputs, 'Secret', secretRef ?? {});
    for (const [key, value] of data ?? []) result[`${prefix}${key}`] = text(value);
  }
  for (const variable of env) {
    const value = await valueOf(variable, container, inputs, result);
    if (value !== undefined) result[variable.name] = value;
  }
  return result;
}

async function valueOf(
  { value, valueFrom }: EnvVar,
  container: Container,
  inputs: PodInputs,
  before: Readonly<Record<string, string>>,
): Promise<string | undefined> {
  if (!valueFrom) return expandVariables(value ?? '', (name) => before[name]);
  const { fieldRef, resourceFieldRef, configMapKeyRef, secretKeyRef } = valueFrom;
  const { pod, place } = inputs;
  if (fieldRef)
    return required(podField(pod, fieldRef.fieldPath, place), `unsupported fieldPath: ${fieldRef.fieldPath}`);
  if (resourceFieldRef) {
    const { containers = [], initContainers = [] } = pod.spec ?? {};
    const named = resourceFieldRef.containerName;
    const of = named ? [...containers, ...initContainers].find(({ name }) => name === named) : container;
    const found = of && resourceField(of, resourceFieldRef, place);
    return required(found, `unsupported container resource : ${resourceFieldRef.resource}`);
  }
  if (configMapKeyRef) return await keyOf(inputs, 'ConfigMap', configMapKeyRef);
  return secretKeyRef && (await keyOf(inputs, 'Secret', secretKeyRef));
}

interface Named {
  name?: string;
  optional?: boolean;
}

async function keyOf(
  inputs: PodInputs,
  kind: SourceRef['kind'],
  { key, ...named }: Named & { key: string },
): Promise<string | undefined> {
  const data = await find(inputs, kind, named);
  const value = data?.get(key);
  if (value) return text(value);
  if (named.optional) return undefined;
  throw new ConfigError(`couldn't find key ${key} in ${kind} ${inputs.pod.metadata?.namespace}/${named.name}`);
}

async function find({ pod, objects }: PodInputs, kind: SourceRef['kind'], { name = '', optional }: Named) {
  const data = await objects.get({ kind, namespace: pod.metadata?.namespace ?? '', name });
  if (!data && !optional) throw new ConfigError(`${kind.toLowerCase()} "${name}" not found`);
  return data;
}

function required(value: string | undefined, otherwise: string): string {
  if (value === undefined) throw new ConfigError(otherwise);
  return value;
}

const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString();
