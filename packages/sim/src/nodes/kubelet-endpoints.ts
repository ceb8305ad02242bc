import { issueCertificate, type ServerPki } from '@asterism/apiserver';
import type { Clock } from '@asterism/client';
import type { KubeObject } from '@asterism/machinery';
import { type Kubelet, startKubelet } from '../kubelet/kubelet.ts';
import type { NodeBackend, PodRef } from '../machine/container-runtime.ts';
import type { NodeShape } from './node-shape.ts';

export interface KubeletEndpointsOptions {
  nodes: readonly NodeShape[];
  /** An IP address: every node gets a port of its own there. */
  host: string;
  /** Issues the serving certificates; clients need one of it. */
  ca: ServerPki['ca'];
  clock: Clock;
  backendOf(node: string): NodeBackend | undefined;
  podsOf(node: string): readonly KubeObject[];
}

const DAYS = 365;

/** What a kubelet serves, for each node. */
export class KubeletEndpoints implements AsyncDisposable {
  readonly #host: string;
  readonly #kubelets: ReadonlyMap<string, Kubelet>;
  readonly #parts: AsyncDisposableStack;

  private constructor(host: string, kubelets: ReadonlyMap<string, Kubelet>, parts: AsyncDisposableStack) {
    this.#host = host;
    this.#kubelets = kubelets;
    this.#parts = parts;
  }

  static async start(options: KubeletEndpointsOptions): Promise<KubeletEndpoints> {
    const { nodes, host, ca, clock } = options;
    await using parts = new AsyncDisposableStack();
    const kubelets = new Map<string, Kubelet>();
    for (const { name } of nodes) {
      const subject = { commonName: `system:node:${name}`, organizations: ['system:nodes'], ipAddresses: [host] };
      const tls = await issueCertificate(ca, { ...subject, usages: ['server'], days: DAYS });
      const listen = { host, port: 0 };
      kubelets.set(
        name,
        parts.use(await startKubelet({ ...servedBy(name, options), listen, tls, clientCa: ca.cert, clock })),
      );
    }
    return new KubeletEndpoints(host, kubelets, parts.move());
  }

  endpointOf(node: string): { host: string; port: number } | undefined {
    const port = this.#kubelets.get(node)?.port;
    return port === undefined ? undefined : { host: this.#host, port };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#parts.disposeAsync();
  }
}

/** What one node has of the member's pods. */
function servedBy(nodeName: string, { backendOf, podsOf }: KubeletEndpointsOptions) {
  const runs = ({ namespace, pod }: PodRef): boolean =>
    podsOf(nodeName).some(({ metadata }) => metadata?.namespace === namespace && metadata?.name === pod);
  return {
    nodeName,
    backendOf: (pod: PodRef) => (runs(pod) ? backendOf(nodeName) : undefined),
    backends: () => {
      const backend = backendOf(nodeName);
      return backend ? [{ ...backend, stats: () => backend.stats().filter(({ ref }) => runs(ref)) }] : [];
    },
    pods: () => podsOf(nodeName),
  };
}
