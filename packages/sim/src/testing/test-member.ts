import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Client, type Connection, createClient, createTransport, type ObjectRef } from '@asterism/client';
import { type KubeObject, type Pod, PODS, type PodStatus, type ResourceType } from '@asterism/machinery';
import { silentLogger, watchResource } from '@asterism/runtime';
import { type Member, type MemberOptions, startMember } from '../member.ts';

/** A member in a directory of its own, removed with it, and a client of its administrator over the network. */
export class TestMember implements AsyncDisposable {
  readonly client: Client;
  readonly admin: Connection;
  readonly #parts: AsyncDisposableStack;

  private constructor(client: Client, admin: Connection, parts: AsyncDisposableStack) {
    this.client = client;
    this.admin = admin;
    this.#parts = parts;
  }

  static async start(options: Partial<MemberOptions> = {}): Promise<TestMember> {
    const parts = new AsyncDisposableStack();
    const dataDir = await mkdtemp(join(tmpdir(), 'asterism-sim-'));
    parts.defer(() => rm(dataDir, { recursive: true, force: true }));
    const member: Member = parts.use(
      await startMember({
        name: 'test',
        dataDir,
        listen: { host: '127.0.0.1', port: 0 },
        nodes: [1, 2, 3].map((n) => ({ name: `node-${n}`, cpu: '8', memory: '32Gi', pods: 110 })),
        podStartMs: 1,
        podStopMs: 1,
        logger: silentLogger,
        ...options,
      }),
    );
    const transport = parts.use(createTransport(member.admin));
    return new TestMember(createClient({ transport }), member.admin, parts);
  }

  /** The objects of a namespace once they are as wanted; rejects after 10 s, and says how they are. */
  async until<T extends KubeObject>(
    type: ResourceType<T>,
    isWanted: (objects: T[]) => boolean,
    namespace: string | undefined = 'default',
  ): Promise<T[]> {
    const seen = new Map<string, T>();
    const all = (): T[] =>
      [...seen.values()].sort((a, b) => (a.metadata?.name ?? '').localeCompare(b.metadata?.name ?? ''));
    const signal = AbortSignal.timeout(10_000);
    let listed = false;
    const where = type.namespaced ? { namespace } : {};
    try {
      for await (const event of watchResource(this.client.resource(type), { ...where, signal })) {
        if (event.type === 'InitDone') listed = true;
        if (event.type === 'Apply' || event.type === 'InitApply')
          seen.set(event.object.metadata?.name ?? '', event.object);
        if (event.type === 'Delete') seen.delete(event.object.metadata?.name ?? '');
        if (listed && isWanted(all())) return all();
      }
    } catch (error) {
      if (!signal.aborted) throw error;
    }
    throw new Error(`${type.resource} are not as wanted: ${JSON.stringify(all(), undefined, 1)}`);
  }

  /** One object once it is as wanted. */
  async one<T extends KubeObject>(type: ResourceType<T>, ref: ObjectRef, isWanted: (object: T) => boolean): Promise<T> {
    const find = (objects: T[]): T | undefined => objects.find(({ metadata }) => metadata?.name === ref.name);
    const objects = await this.until(
      type,
      (all) => {
        const found = find(all);
        return found !== undefined && isWanted(found);
      },
      ref.namespace,
    );
    return find(objects) as T;
  }

  /** Writes a pod's status, as its kubelet would. */
  async report({ metadata }: Pod, status: PodStatus): Promise<void> {
    const ref = { namespace: metadata?.namespace, name: metadata?.name ?? '' };
    await this.client.resource(PODS).patch(ref, { type: 'merge', body: { status } }, { subresource: 'status' });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#parts[Symbol.asyncDispose]();
  }
}
