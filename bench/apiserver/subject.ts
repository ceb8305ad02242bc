import { setTimeout as delay } from 'node:timers/promises';
import { LoadGenerator } from '../load/load-generator.ts';
import type { Load, LoadResult } from '../load/load-message.ts';
import { cpuOf } from '../harness/cpu-of.ts';
import { benchPod } from './bench-pod.ts';
import type { ServerUnderTest } from './server-under-test.ts';

/** What one run of a load cost and took. */
export interface Sample extends LoadResult {
  /** Of the server's processes, for each request. */
  cpuMsEach: number;
}

/** So many pods are in the namespace `read` from the beginning. */
export const PODS = 1_000;
/** In these namespaces as many pods of 5 KB as {@link Subject.fill} puts there. */
export type FilledNamespace = 'wide' | 'many' | 'rest';

const CLUSTER_ROLE = {
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: 'ClusterRole',
  metadata: { name: 'bench' },
  rules: [{ apiGroups: [''], resources: ['pods'], verbs: ['get', 'list', 'watch', 'create', 'update', 'patch'] }],
};
const BINDING = {
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: 'ClusterRoleBinding',
  metadata: { name: 'bench' },
  roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'bench' },
  subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'Group', name: 'bench' }],
};

/** A server with a generator for it: namespaces `read` (1,000 pods), `watch` (one pod) and empty ones, and a user whom RBAC lets. */
export class Subject implements AsyncDisposable {
  readonly server: ServerUnderTest;
  readonly #generator: LoadGenerator;
  readonly #signal: AbortSignal;
  #sent = 0;

  private constructor(server: ServerUnderTest, generator: LoadGenerator, signal: AbortSignal) {
    this.server = server;
    this.#generator = generator;
    this.#signal = signal;
  }

  static async prepare(server: ServerUnderTest, signal: AbortSignal): Promise<Subject> {
    const generator = new LoadGenerator(signal);
    try {
      await generator.connect(server.admin);
      for (const name of ['read', 'write', 'watch', 'wide', 'many', 'rest']) {
        await post(generator, '/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
      }
      await post(generator, '/apis/rbac.authorization.k8s.io/v1/clusterroles', CLUSTER_ROLE);
      await post(generator, '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings', BINDING);
      await generator.run({ ...createPods('read'), concurrency: 16, seconds: 120, most: PODS });
      await generator.run({ ...createPods('watch'), concurrency: 1, seconds: 60, most: 1 });
      await generator.connect(server.user);
    } catch (error) {
      await generator[Symbol.asyncDispose]();
      throw error;
    }
    return new Subject(server, generator, signal);
  }

  get(seconds: number): Promise<Sample> {
    const path = '/api/v1/namespaces/read/pods/pod-{i}';
    return this.#measure({ method: 'GET', path, modulo: PODS, concurrency: 16, seconds, most: 50_000 });
  }

  /** `any`: from the server's watch cache (`resourceVersion=0`). `newest`: what a client gets that says nothing. */
  list(namespace: 'read' | 'many', freshness: 'newest' | 'any', seconds: number): Promise<Sample> {
    return this.#measure({ method: 'GET', path: listPath(namespace, freshness), concurrency: 4, seconds, most: 1_000 });
  }

  /** One GET after the other, 5 ms apart, while ten clients list the namespace `wide` without a pause. */
  async getWhileListing(seconds: number): Promise<Sample> {
    await using listers = new LoadGenerator(this.#signal);
    await listers.connect(this.server.user, 10);
    const listing = listers.run({
      method: 'GET',
      path: listPath('wide', 'any'),
      concurrency: 10,
      seconds: seconds + 1,
      most: 1_000_000,
    });
    await delay(500); // All of them are being served by now.
    const path = '/api/v1/namespaces/read/pods/pod-{i}';
    const sample = await this.#measure({
      method: 'GET',
      path,
      modulo: PODS,
      concurrency: 1,
      pauseMs: 5,
      seconds,
      most: 1_000_000,
    });
    await listing;
    return sample;
  }

  /** Creates `pod-0` to `pod-COUNT`. */
  async fill(namespace: FilledNamespace, count: number): Promise<void> {
    await this.#generator.run({ ...createPods(namespace), concurrency: 16, seconds: 400, most: count });
  }

  create(seconds: number): Promise<Sample> {
    return this.#measure({ ...createPods('write'), concurrency: 16, seconds, most: 2_000 });
  }

  /** A label changes in 200 pods in turn, 16 at once. */
  patch(seconds: number): Promise<Sample> {
    return this.#measure({ ...patchPod('read', 'pod-{i}'), modulo: 200, concurrency: 16, seconds, most: 2_000 });
  }

  /** The whole of 200 pods in turn is replaced, with another label. */
  update(seconds: number): Promise<Sample> {
    const load: Load = { ...writePod('PUT', 'application/json'), modulo: 200, concurrency: 16, seconds, most: 2_000 };
    return this.#measure(load);
  }

  /** Server-side apply of the whole of 200 pods in turn, with another label, by one manager. */
  apply(seconds: number): Promise<Sample> {
    const request = writePod('PATCH', 'application/apply-patch+yaml', '?fieldManager=bench&force=true');
    return this.#measure({ ...request, modulo: 200, concurrency: 16, seconds, most: 2_000 });
  }

  /** One pod changes, one change after the other, and nobody watches. */
  change(changes: number): Promise<Sample> {
    return this.#measure({ ...patchPod('watch', 'pod-0'), concurrency: 1, seconds: 20, most: changes });
  }

  /** The same while `watchers` watch: the next change comes when all have the last. */
  async changeWatched(changes: number): Promise<Sample> {
    const load: Load = { ...patchPod('watch', 'pod-0'), concurrency: 1, seconds: 20, most: changes };
    return this.#measure(load, (numbered) => this.#generator.fanOut(numbered));
  }

  /** Opens watches of the namespace `watch`, from now on. */
  async watch(watchers: number): Promise<void> {
    await this.#generator.watch({ path: '/api/v1/namespaces/watch/pods?watch=1', watchers, existing: 1 });
  }

  async unwatch(): Promise<void> {
    await this.#generator.unwatch();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#generator[Symbol.asyncDispose]();
  }

  /** Numbers go on from load to load, so that no name and no value comes twice. */
  async #measure(load: Load, run = (numbered: Load) => this.#generator.run(numbered)): Promise<Sample> {
    const { result, cpuMs } = await cpuOf(this.server.pids, () => run({ ...load, first: this.#sent }));
    this.#sent += result.requests;
    return { ...result, cpuMsEach: cpuMs / result.requests };
  }
}

type Request = Pick<Load, 'method' | 'path' | 'contentType' | 'body'>;

function createPods(namespace: string): Request {
  return {
    method: 'POST',
    path: `/api/v1/namespaces/${namespace}/pods`,
    contentType: 'application/json',
    body: JSON.stringify(benchPod(namespace, 'pod-{i}')),
  };
}

/** The whole of a pod of `read`. */
function writePod(method: 'PUT' | 'PATCH', contentType: string, query = ''): Request {
  const pod = benchPod('read', 'pod-{i}');
  const labels = { ...pod.metadata?.labels, round: 'r{n}' };
  return {
    method,
    path: `/api/v1/namespaces/read/pods/pod-{i}${query}`,
    contentType,
    body: JSON.stringify({ ...pod, metadata: { ...pod.metadata, labels } }),
  };
}

function listPath(namespace: string, freshness: 'newest' | 'any'): string {
  return `/api/v1/namespaces/${namespace}/pods${freshness === 'any' ? '?resourceVersion=0' : ''}`;
}

function patchPod(namespace: string, name: string): Request {
  return {
    method: 'PATCH',
    path: `/api/v1/namespaces/${namespace}/pods/${name}`,
    contentType: 'application/merge-patch+json',
    body: JSON.stringify({ metadata: { labels: { round: 'r{n}' } } }),
  };
}

async function post(generator: LoadGenerator, path: string, object: object): Promise<void> {
  const body = JSON.stringify(object);
  await generator.run({
    method: 'POST',
    path,
    contentType: 'application/json',
    body,
    concurrency: 1,
    seconds: 30,
    most: 1,
  });
}
