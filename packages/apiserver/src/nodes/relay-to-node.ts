import { Readable } from 'node:stream';
import { createTransport, type HttpTransport, READ_LIMITS, readStart, tapBytes } from '@asterism/client';
import { badRequest, failure, type Pod, PODS } from '@asterism/machinery';
import { type Relay, relayFailure, relayRequest } from '../forward/relay-request.ts';
import { relayUpgrade, type UpgradeEnd } from '../forward/relay-upgrade.ts';
import { methodNotAllowed } from '../http/answer/answer.ts';
import type { ExtensionContext } from '../http/extension/api-extension.ts';
import type { ApiResponse } from '../contract/api-request.ts';
import { checkPodConnection } from '../http/pod-connection.ts';
import { isTrue } from '../contract/request-info.ts';
import { refuseUpgrade } from '../http/wire/upgrade.ts';
import { requireResource } from '../registry/require-resource.ts';
import type { NetworkAddress } from './kubelet-client-options.ts';
import { locateEndpoint, locatePod } from './locate-pods.ts';
import { locateKubelet } from './locate-kubelet.ts';
import type { NodeConnectsOptions } from './node-connects.ts';
import { splitName } from './split-name.ts';

/** What a request of one subresource becomes. */
interface Destination {
  scheme: 'http' | 'https';
  address: NetworkAddress;
  path: string;
  /** A kubelet is shown the server's certificate and has to show its own; what runs in a pod is not known to anybody. */
  isKubelet: boolean;
  insecure?: boolean;
}

/** The carrier of one subresource's connections. */
export interface NodeTarget {
  handle(context: ExtensionContext): Promise<ApiResponse>;
  upgrade(context: ExtensionContext, end: UpgradeEnd): Promise<void>;
}

type Locate = (options: NodeConnectsOptions, context: ExtensionContext) => Promise<Destination | 'empty'>;

const CONNECT_TIMEOUT_MS = 5_000;
/** Of a kubelet's refusal. */
const REFUSAL = { ...READ_LIMITS.error, maxBytes: 50_000 };

const LOCATE: Readonly<Record<string, Locate>> = {
  'pods/log': locateLog,
  'pods/exec': (...call) => locateCommand('exec', ...call),
  'pods/attach': (...call) => locateCommand('attach', ...call),
  'pods/portforward': locatePortForward,
  'nodes/proxy': locateNodeProxy,
  'pods/proxy': locatePodProxy,
  'services/proxy': locateServiceProxy,
};
const UPGRADES_ONLY = new Set(['pods/exec', 'pods/attach', 'pods/portforward']);

export function targetOf(path: string, options: NodeConnectsOptions): NodeTarget {
  const locate = LOCATE[path]!;
  const isLog = path === 'pods/log';
  const isProxy = path.endsWith('/proxy');
  return {
    handle: async (context) => {
      if (isLog && context.verb !== 'get') throw methodNotAllowed();
      if (UPGRADES_ONLY.has(path) && context.verb !== 'get' && context.verb !== 'create') throw methodNotAllowed();
      const destination = await locate(options, context);
      if (destination === 'empty') return { status: 204, headers: {}, body: undefined };
      if (UPGRADES_ONLY.has(path)) throw badRequest('Upgrade request required');
      const transport = connect(options, destination);
      const answer = await ask(context, relayOf(transport, destination, isProxy ? context : undefined), transport);
      if (isLog) return answer.status === 200 ? asText(answer) : await refusal(answer);
      return answer;
    },
    upgrade: async (context, end) => {
      const destination = await locate(options, context);
      if (destination === 'empty') throw badRequest('there is nothing to connect to');
      const transport = connect(options, destination);
      end.socket.once('close', () => void transport.close());
      try {
        await relayUpgrade(context, relayOf(transport, destination, isProxy ? context : undefined), end);
      } catch (error) {
        await transport.close();
        await refuseUpgrade(end.socket, asAnswer(error));
      }
    },
  };
}

/** One for each request: they are few, most of them last, and nodes come and go. */
function connect({ kubelet = {} }: NodeConnectsOptions, { scheme, address, isKubelet, insecure }: Destination) {
  const { host, port } = address;
  const { ca, clientCertificate } = kubelet;
  return createTransport(
    {
      server: `${scheme}://${host.includes(':') ? `[${host}]` : host}:${port}`,
      ...(isKubelet && ca !== undefined ? { caData: ca } : {}),
      insecureSkipTlsVerify: !isKubelet || insecure === true || kubelet.insecureSkipTlsVerify === true,
      credential: isKubelet && clientCertificate ? { kind: 'certificate', ...clientCertificate } : { kind: 'none' },
    },
    { connectTimeoutMs: CONNECT_TIMEOUT_MS },
  );
}

/** A path that a server behind a proxy names is one below the proxy. */
function relayOf(transport: HttpTransport, { path }: Destination, proxied: ExtensionContext | undefined): Relay {
  const relay: Relay = { transport, path, headers: {}, long: true, redirects: 'pass' };
  if (proxied === undefined) return relay;
  const { request, rest } = proxied;
  return { ...relay, root: request.path.slice(0, request.path.length - rest.length) };
}

async function ask(context: ExtensionContext, relay: Relay, transport: HttpTransport): Promise<ApiResponse> {
  try {
    const answer = await relayRequest(context, relay);
    const { body } = answer;
    if (body !== undefined && !(body instanceof Uint8Array)) {
      return { ...answer, body: tapBytes(body, { onEnd: () => void transport.close() }) };
    }
    await transport.close();
    return answer;
  } catch (error) {
    await transport.close();
    if (context.request.signal.aborted) throw error;
    return asAnswer(error);
  }
}

function asAnswer(error: unknown): ApiResponse {
  const answer = relayFailure('the backend', error);
  if (answer instanceof Error) throw answer;
  return answer;
}

function asText(answer: ApiResponse): ApiResponse {
  return { ...answer, headers: { 'content-type': 'text/plain' } };
}

/** A kubelet's refusal as a Status, as upstream makes one of it. */
async function refusal({ status, body }: ApiResponse): Promise<never> {
  const stream = Readable.from(body instanceof Uint8Array ? [body] : (body ?? []));
  const text = (await readStart(stream, 'the node', { limits: REFUSAL })).toString('utf8');
  if (status === 400) throw badRequest(text);
  throw failure(status, status === 500 ? `Internal error occurred: ${text}` : text, { details: {} });
}

/** The pod, checked as upstream does, and the container that is meant; `empty` where it has no node yet. */
async function locatePodOnNode(
  { registry, kubelet = {} }: NodeConnectsOptions,
  { namespace, name = '', request, subresource = '' }: ExtensionContext,
): Promise<{ address: NetworkAddress; place: string; container: string } | 'empty'> {
  const pods = requireResource(registry, PODS);
  const ref = { namespace, name };
  const checked = await checkPodConnection({ registry, pods, ref, subresource, query: request.query });
  if (checked === 'empty') return 'empty';
  const { spec } = (await registry.get(pods, ref)).parse() as Pod;
  const address = await locateKubelet(registry, spec?.nodeName ?? '', kubelet);
  const container = request.query.get('container') || (spec?.containers[0]?.name ?? '');
  return { address, place: `${encodeURIComponent(namespace ?? '')}/${encodeURIComponent(name)}`, container };
}

const LOG_FLAGS = ['follow', 'previous', 'timestamps'];
const LOG_VALUES = ['sinceSeconds', 'sinceTime', 'tailLines', 'limitBytes', 'stream'];

async function locateLog(options: NodeConnectsOptions, context: ExtensionContext): Promise<Destination | 'empty'> {
  const found = await locatePodOnNode(options, context);
  if (found === 'empty') return found;
  const { query } = context.request;
  const asked = new URLSearchParams();
  for (const flag of LOG_FLAGS) if (isTrue(query.get(flag))) asked.set(flag, 'true');
  for (const name of LOG_VALUES) if (query.get(name)) asked.set(name, query.get(name)!);
  const path = withQuery(`/containerLogs/${found.place}/${found.container}`, asked);
  const insecure = isTrue(query.get('insecureSkipTLSVerifyBackend'));
  return { scheme: 'https', address: found.address, path, isKubelet: true, insecure };
}

/** What a kubelet calls the streams of a command. */
const STREAMS: Readonly<Record<string, string>> = { stdin: 'input', stdout: 'output', stderr: 'error', tty: 'tty' };

async function locateCommand(
  route: 'exec' | 'attach',
  options: NodeConnectsOptions,
  context: ExtensionContext,
): Promise<Destination | 'empty'> {
  const found = await locatePodOnNode(options, context);
  if (found === 'empty') return found;
  const { query } = context.request;
  const asked = new URLSearchParams();
  for (const [name, stream] of Object.entries(STREAMS)) if (isTrue(query.get(name))) asked.set(stream, '1');
  if (route === 'exec') for (const word of query.getAll('command')) asked.append('command', word);
  const path = withQuery(`/${route}/${found.place}/${found.container}`, asked);
  return { scheme: 'https', address: found.address, path, isKubelet: true };
}

async function locatePortForward(
  options: NodeConnectsOptions,
  context: ExtensionContext,
): Promise<Destination | 'empty'> {
  const found = await locatePodOnNode(options, context);
  if (found === 'empty') return found;
  const ports = context.request.query.getAll('ports');
  const asked = new URLSearchParams(ports.length === 0 ? {} : { port: ports.join(',') });
  const path = withQuery(`/portForward/${found.place}`, asked);
  return { scheme: 'https', address: found.address, path, isKubelet: true };
}

async function locateNodeProxy(
  { registry, kubelet = {} }: NodeConnectsOptions,
  context: ExtensionContext,
): Promise<Destination> {
  const { scheme, name, port } = splitName('node', context.name ?? '');
  const address = await locateKubelet(registry, name, kubelet);
  if (port !== '' && Number(port) !== address.port) {
    throw badRequest(`invalid node request ${JSON.stringify(context.name)}: only the kubelet's own port is reached`);
  }
  if (scheme === 'http')
    throw badRequest(`invalid node request ${JSON.stringify(context.name)}: a kubelet speaks https`);
  return { scheme: 'https', address, path: proxiedPath(context), isKubelet: true };
}

async function locatePodProxy(options: NodeConnectsOptions, context: ExtensionContext): Promise<Destination> {
  const split = splitName('pod', context.name ?? '');
  const address = await locatePod(options.registry, context.namespace ?? '', split);
  return await throughPodNetwork(options, context, { scheme: split.scheme || 'http', address });
}

async function locateServiceProxy(options: NodeConnectsOptions, context: ExtensionContext): Promise<Destination> {
  const split = splitName('service', context.name ?? '');
  const address = await locateEndpoint(options.registry, context.namespace ?? '', split, Math.random);
  return await throughPodNetwork(options, context, { scheme: split.scheme || 'http', address });
}

async function throughPodNetwork(
  { podNetwork = 'direct' }: NodeConnectsOptions,
  context: ExtensionContext,
  { scheme, address }: Pick<Destination, 'scheme' | 'address'>,
): Promise<Destination> {
  const reached = podNetwork === 'direct' ? address : await podNetwork(address);
  return { scheme, address: reached, path: proxiedPath(context), isKubelet: false };
}

function proxiedPath({ rest, request }: ExtensionContext): string {
  return withQuery(rest === '' ? '/' : rest, request.query);
}

function withQuery(path: string, query: URLSearchParams): string {
  const search = query.toString();
  return search === '' ? path : `${path}?${search}`;
}
