import {
  badRequest,
  failure,
  type FieldError,
  fieldForbidden,
  invalid,
  isNotFound,
  type KubeObject,
  notFound,
} from '@asterism/machinery';
import type { Registry } from '../registry/registry.ts';
import { readInteger } from './request/write-options.ts';
import type { ServedResource } from '../contract/served-resource.ts';
import { invalidValue } from '../registry/invalid-value.ts';

interface PodView extends KubeObject {
  spec?: {
    nodeName?: string;
    containers?: { name: string }[];
    initContainers?: { name: string }[];
    ephemeralContainers?: { name: string }[];
  };
  status?: { podIP?: string };
}

interface Connection {
  registry: Registry;
  pods: ServedResource;
  ref: { namespace: string | undefined; name: string };
  subresource: string;
  query: URLSearchParams;
}

/**
 * What can be said of a connection to a pod without a node: rejects as upstream where the pod, its container or its node is
 * not there, or an option is wrong. `empty` where there is nothing to show yet (the log of a pod without a node), `node` where
 * only its node could answer.
 */
export async function checkPodConnection(connection: Connection): Promise<'empty' | 'node'> {
  const { registry, pods, ref, subresource, query } = connection;
  if (subresource === 'log') requireLogOptions(query, ref.name);
  const pod = (await registry.get(pods, ref)).parse() as PodView;
  const { nodeName = '' } = pod.spec ?? {};
  if (subresource === 'proxy') {
    if (!pod.status?.podIP) throw badRequest('address not allowed');
    return 'node';
  }
  if (subresource !== 'portforward') requireContainer(pod, query.get('container') ?? '');
  if (nodeName === '') {
    if (subresource === 'log') return 'empty';
    throw badRequest(`pod ${ref.name} does not have a host assigned`);
  }
  await requireNode(registry, pods, nodeName);
  return 'node';
}

/** 501: this server runs no nodes. */
export function noBackend(resource: string, subresource: string): Error {
  return failure(501, `this server runs no nodes: there is nothing behind ${resource}/${subresource}`, { details: {} });
}

function requireContainer({ metadata, spec = {} }: PodView, name: string): void {
  const { containers = [], initContainers = [], ephemeralContainers = [] } = spec;
  const names = [...initContainers, ...containers, ...ephemeralContainers].map((each) => each.name);
  if (name !== '' && !names.includes(name)) {
    throw badRequest(`container ${name} is not valid for pod ${metadata?.name}`);
  }
  if (name !== '' || containers.length === 1) return;
  throw badRequest(`a container name must be specified for pod ${metadata?.name}, choose one of: [${names.join(' ')}]`);
}

/** A node that is not there: upstream names the resource of the request. */
async function requireNode(registry: Registry, { type }: ServedResource, name: string): Promise<void> {
  const nodes = registry.find('', 'v1', 'nodes');
  if (!nodes) return;
  await registry.get(nodes, { name }).catch((error: unknown) => {
    throw isNotFound(error) ? notFound(type, name) : error;
  });
}

/** The rules of `ValidatePodLogOptions`. */
function requireLogOptions(query: URLSearchParams, name: string): void {
  const errors: FieldError[] = [];
  const atLeast = (field: string, least: number, detail: string): void => {
    const value = readInteger(query, field);
    if (value !== undefined && value < least) errors.push(invalidValue(field, value, detail));
  };
  atLeast('tailLines', 0, 'must be greater than or equal to 0');
  atLeast('limitBytes', 1, 'must be greater than 0');
  if (query.has('sinceSeconds') && query.has('sinceTime')) {
    errors.push(fieldForbidden('[]', 'at most one of `sinceTime` or `sinceSeconds` may be specified'));
  } else atLeast('sinceSeconds', 1, 'must be greater than 0');
  if (errors.length > 0) throw invalid({ group: '', kind: 'PodLogOptions' }, name, errors);
}
