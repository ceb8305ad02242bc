import { type Client, type Connection, createClient, createTransport, type HttpTransport } from '@asterism/client';
import {
  type Deployment,
  DEPLOYMENTS,
  isConditionTrue,
  type KubeObject,
  NAMESPACES,
  PODS,
  type ResourceType,
} from '@asterism/machinery';
import { benchDeployment, NAMESPACE } from '../place/bench-deployment.ts';

/** How long a Deployment may take to come or go until the bench gives up, ms. */
const PATIENCE_MS = 60_000;

/** A client of one simulated member that deploys, and sees what comes of it. */
export class MemberUnderTest implements AsyncDisposable {
  readonly #client: Client;
  readonly #transport: HttpTransport;
  readonly #signal: AbortSignal;

  /** As whom `connection` says. `signal` ends every wait. */
  constructor(connection: Connection, signal: AbortSignal) {
    this.#transport = createTransport(connection);
    this.#client = createClient({ transport: this.#transport, userAgent: 'bench' });
    this.#signal = signal;
  }

  async createNamespace(): Promise<void> {
    await this.#client
      .resource(NAMESPACES)
      .create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE } });
  }

  /** Applies a Deployment; resolves with the ms until it is seen to be Available with all of its replicas ready. */
  async deploy(name: string, replicas: number): Promise<number> {
    const seen = await this.#watch(
      DEPLOYMENTS,
      ({ metadata, status }: Deployment, type) =>
        type !== 'DELETED' &&
        metadata?.name === name &&
        status?.readyReplicas === replicas &&
        status.observedGeneration === metadata.generation &&
        isConditionTrue(status.conditions, 'Available'),
    );
    const started = performance.now();
    await this.#client
      .resource(DEPLOYMENTS)
      .apply(benchDeployment(name, 'nowhere', replicas), { fieldManager: 'bench' });
    return (await seen.ended) - started;
  }

  /** Resolves when the Deployment's pods are gone too. */
  async remove(name: string, replicas: number): Promise<void> {
    let gone = 0;
    const seen = await this.#watch(
      PODS,
      ({ metadata }, type) => type === 'DELETED' && metadata?.labels?.app === name && ++gone === replicas,
    );
    await this.#client.resource(DEPLOYMENTS).delete({ namespace: NAMESPACE, name });
    await seen.ended;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#transport.close();
  }

  /** Resolves when the watch stands; `ended` with the moment in which `isEnd` first held. */
  async #watch<T extends KubeObject>(
    type: ResourceType<T>,
    isEnd: (object: T, event: string) => boolean,
  ): Promise<{ ended: Promise<number> }> {
    const opened = Promise.withResolvers<void>();
    const signal = AbortSignal.any([this.#signal, AbortSignal.timeout(PATIENCE_MS)]);
    const follow = async (): Promise<number> => {
      const options = { namespace: NAMESPACE, cutManagedFields: true, signal, onOpen: () => opened.resolve() };
      for await (const event of this.#client.resource(type).watch(options)) {
        if (isEnd(event.object as T, event.type)) return performance.now();
      }
      throw new Error('the member ended the watch');
    };
    const ended = follow();
    ended.catch(opened.reject);
    await opened.promise;
    return { ended };
  }
}
