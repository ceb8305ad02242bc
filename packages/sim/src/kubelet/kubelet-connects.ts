import type { Duplex } from 'node:stream';
import type { ApiResponse, ConnectHandler, ExtensionContext } from '@asterism/apiserver';
import { badRequest, type KubeObject, notFound } from '@asterism/machinery';
import type { ContainerRef, NodeBackend } from '../machine/container-runtime.ts';
import { beginLog } from './begin-log.ts';
import { readLogQuery } from './log-query.ts';
import { readCommandQuery, readPorts } from './query-flags.ts';
import { refuseUpgrade } from './refuse-upgrade.ts';
import {
  namesPortsInQuery,
  serveCommandUpgrade,
  servePortForwardUpgrade,
  type UpgradeCall,
} from './streaming-session.ts';

/** What is looked at of a pod. */
export interface ConnectedPod extends KubeObject {
  spec?: {
    nodeName?: string;
    containers?: { name: string }[];
    initContainers?: { name: string }[];
    ephemeralContainers?: { name: string }[];
  };
}

export interface KubeletConnectsOptions {
  /** Rejects with a `StatusError` where there is none. */
  podOf(namespace: string, name: string): Promise<ConnectedPod>;
  backendOf(nodeName: string): NodeBackend | undefined;
}

/** `pods/log`, `exec`, `attach` and `portforward` of an API server, answered in its process by the nodes' backends. */
export function kubeletConnects(options: KubeletConnectsOptions): ConnectHandler[] {
  const upgradeRequired = async (): Promise<ApiResponse> => {
    throw badRequest('Upgrade request required');
  };
  const command = (kind: 'exec' | 'attach'): ConnectHandler => ({
    group: '',
    resource: 'pods',
    subresource: kind,
    handle: upgradeRequired,
    upgrade: async (context, socket, head) => {
      const { query } = context.request;
      const request = readCommandQuery(query);
      const { backend, ref } = await locate(options, context);
      const target = { kind, backend, ref, request, command: query.getAll('command') };
      await answering(socket, serveCommandUpgrade(callOf(context, socket, head), target));
    },
  });
  return [
    { group: '', resource: 'pods', subresource: 'log', handle: (context) => answerLog(options, context) },
    command('exec'),
    command('attach'),
    {
      group: '',
      resource: 'pods',
      subresource: 'portforward',
      handle: upgradeRequired,
      upgrade: async (context, socket, head) => {
        const pod = nameOf(context);
        const backend = requireBackend(options, await options.podOf(pod.namespace, pod.pod));
        const call = callOf(context, socket, head);
        await answering(socket, forward(call, backend, pod, context.request.query));
      },
    },
  ];
}

async function forward(
  call: UpgradeCall,
  backend: NodeBackend,
  pod: { namespace: string; pod: string },
  query: URLSearchParams,
): Promise<void> {
  const ports = namesPortsInQuery(call.headers) ? readPorts(query, 'ports') : [];
  await servePortForwardUpgrade(call, { backend, pod, ports });
}

async function answerLog(options: KubeletConnectsOptions, context: ExtensionContext): Promise<ApiResponse> {
  const { request } = context;
  const { namespace, pod: name } = nameOf(context);
  const logOptions = readLogQuery(request.query, name);
  const pod = await options.podOf(namespace, name);
  const container = requireContainer(pod, request.query.get('container') ?? '');
  const headers = { 'content-type': 'text/plain' };
  if (!pod.spec?.nodeName) return { status: 200, headers, body: new Uint8Array() };
  const log = { ref: { namespace, pod: name, container }, options: logOptions };
  const body = await beginLog(requireBackend(options, pod), log, request.signal);
  return { status: 200, headers, body, openEnded: true };
}

async function locate(
  options: KubeletConnectsOptions,
  context: ExtensionContext,
): Promise<{ backend: NodeBackend; ref: ContainerRef }> {
  const { namespace, pod: name } = nameOf(context);
  const pod = await options.podOf(namespace, name);
  const container = requireContainer(pod, context.request.query.get('container') ?? '');
  return { backend: requireBackend(options, pod), ref: { namespace, pod: name, container } };
}

function nameOf({ namespace = '', name = '' }: ExtensionContext): { namespace: string; pod: string } {
  return { namespace, pod: name };
}

/** As upstream: the one container, or the one that was asked for. */
function requireContainer({ metadata, spec = {} }: ConnectedPod, name: string): string {
  const { containers = [], initContainers = [], ephemeralContainers = [] } = spec;
  const names = [...initContainers, ...containers, ...ephemeralContainers].map((each) => each.name);
  const [only] = containers;
  if (name === '' && only !== undefined && containers.length === 1) return only.name;
  if (name === '') {
    throw badRequest(
      `a container name must be specified for pod ${metadata?.name}, choose one of: [${names.join(' ')}]`,
    );
  }
  if (!names.includes(name)) throw badRequest(`container ${name} is not valid for pod ${metadata?.name}`);
  return name;
}

function requireBackend(options: KubeletConnectsOptions, { metadata, spec }: ConnectedPod): NodeBackend {
  const name = metadata?.name ?? '';
  if (!spec?.nodeName) throw badRequest(`pod ${name} does not have a host assigned`);
  const backend = options.backendOf(spec.nodeName);
  if (backend === undefined) throw notFound({ group: '', resource: 'pods' }, name);
  return backend;
}

function callOf(context: ExtensionContext, socket: Duplex, head: Buffer): UpgradeCall {
  return { headers: context.request.headers, socket, head };
}

/** What the node refuses goes to the client in the node's words: an API server passes on what a kubelet answers. */
async function answering(socket: Duplex, work: Promise<void>): Promise<void> {
  await work.catch((error: unknown) => refuseUpgrade(socket, error));
}
