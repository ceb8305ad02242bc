import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import { ClientError } from '@asterism/client';
import { CONFIG_MAPS, isAlreadyExists, isNotFound, isStatusError, type KubeObject, SECRETS } from '@asterism/machinery';
import { MIRROR_LABEL } from '../../examples/config-sync/src/mirror.ts';
import { TESTS } from '../../examples/multi-cluster-job/src/test-kind.ts';
import type { ControlPlane } from '../cluster/control-plane.ts';
import { exampleTest, mirrored, NAMESPACE } from '../examples/example-objects.ts';
import type { Draw } from './draw.ts';

/** How long one request may take, and how long one change with all its attempts: a main cluster that is away comes back before. */
const REQUEST_MS = 5_000;
const PERSISTENCE_MS = 180_000;
const RETRY_MS = 300;
/** More than these are not kept: then one goes. */
const MOST = 12;

export type ConfigType = typeof CONFIG_MAPS | typeof SECRETS;

/** What the main cluster's user wants: random changes, each made however long it takes. */
export class ExampleChanges {
  readonly #main: ControlPlane;
  readonly #draw: Draw;
  /** The uid of each Test by its name. */
  readonly tests = new Map<string, string>();
  /** What is mirrored, by kind and name, with its data. */
  readonly configs: ReadonlyMap<ConfigType, Map<string, Record<string, string>>> = new Map<
    ConfigType,
    Map<string, Record<string, string>>
  >([
    [CONFIG_MAPS, new Map()],
    [SECRETS, new Map()],
  ]);
  readonly #counts = new Map<string, number>();
  #names = 0;

  constructor(main: ControlPlane, draw: Draw) {
    this.#main = main;
    this.#draw = draw;
  }

  /** How often what was done. */
  get summary(): string {
    return [...this.#counts].map(([what, times]) => `${what} ${times}`).join(', ');
  }

  /** One change. `members` are those in which a copy may be spoiled. */
  async make(members: readonly ControlPlane[]): Promise<void> {
    const draw = this.#draw;
    const kind = draw.next();
    if (kind < 0.5) {
      const name = this.tests.size > 0 ? draw.pick([...this.tests.keys()]) : undefined;
      if (name === undefined || (kind < 0.3 && this.tests.size < MOST)) await this.#createTest();
      else if (kind < 0.45) await this.#deleteTest(name);
      else await this.#replaceTest(name);
      return;
    }
    const type = draw.pick([CONFIG_MAPS, SECRETS]);
    const configs = this.#of(type);
    const name = configs.size > 0 ? draw.pick([...configs.keys()]) : undefined;
    if (name === undefined || (kind < 0.65 && configs.size < MOST)) await this.#setConfig(type, this.#name());
    else if (kind < 0.75) await this.#setConfig(type, name);
    else if (kind < 0.85) await this.#endConfig(type, name);
    else if (members.length > 0) await this.#spoil(type, name, draw.pick(members));
  }

  async #createTest(name = this.#name()): Promise<void> {
    this.#count('Tests created');
    const before = this.tests.get(name);
    const tests = this.#main.client.resource(TESTS);
    const uid = await persist(`creating Test ${name}`, async (signal) => {
      try {
        return (await tests.create(exampleTest(name), { signal })).metadata?.uid;
      } catch (error) {
        if (!isAlreadyExists(error)) throw error;
        // The answer to an attempt was lost; or the one before still goes.
        const { metadata } = await tests.get({ namespace: NAMESPACE, name }, { signal });
        if (metadata?.uid === before) throw error;
        return metadata?.uid;
      }
    });
    this.tests.set(name, uid ?? '');
  }

  async #deleteTest(name: string): Promise<void> {
    this.#count('deleted');
    await this.#delete(TESTS, name);
    this.tests.delete(name);
  }

  /** Another of the name, as soon as the first has gone. */
  async #replaceTest(name: string): Promise<void> {
    await this.#delete(TESTS, name);
    await this.#createTest(name);
  }

  async #setConfig(type: ConfigType, name: string): Promise<void> {
    this.#count('configurations set');
    const data = { [`key${this.#draw.int(1, 3)}`]: base64(`hunter2-${this.#draw.int(0, 1e9)}`) };
    const body = mirrored(name, data);
    const all = this.#main.client.resource(type);
    const isThere = this.#of(type).has(name);
    await persist(`setting ${type.kind} ${name}`, async (signal) => {
      if (!isThere) await all.create(body, { signal }).catch(unlessThere);
      else
        await all.patch(
          { namespace: NAMESPACE, name },
          { type: 'json', body: [{ op: 'replace', path: '/data', value: data }] },
          { signal },
        );
    });
    this.#of(type).set(name, data);
  }

  /** It goes, or is to be mirrored no longer. */
  async #endConfig(type: ConfigType, name: string): Promise<void> {
    this.#count('ended');
    if (this.#draw.chance(0.5)) await this.#delete(type, name);
    else {
      const body = { metadata: { labels: { [MIRROR_LABEL]: null } } };
      const all = this.#main.client.resource(type);
      await persist(`unlabelling ${type.kind} ${name}`, (signal) =>
        all.patch({ namespace: NAMESPACE, name }, { type: 'merge', body }, { signal }),
      );
    }
    this.#of(type).delete(name);
  }

  /** Somebody meddles with a copy, as far as the cluster lets them. */
  async #spoil(type: ConfigType, name: string, { client }: ControlPlane): Promise<void> {
    this.#count('copies spoiled');
    const ref = { namespace: NAMESPACE, name };
    const signal = AbortSignal.timeout(REQUEST_MS);
    const bodies: (object | undefined)[] = [
      { data: { key1: base64('spoiled') } },
      { data: { more: base64('of it') } },
      { metadata: { labels: { app: 'mine' } } },
      { immutable: true },
      undefined,
    ];
    const body = this.#draw.pick(bodies);
    const copies = client.resource(type);
    const spoiling = body ? copies.patch(ref, { type: 'merge', body }, { signal }) : copies.delete(ref, { signal });
    await spoiling.catch(() => this.#count('of these not'));
  }

  async #delete(type: typeof TESTS | ConfigType, name: string): Promise<void> {
    await persist(`deleting ${type.kind} ${name}`, (signal) =>
      this.#main.client.resource<KubeObject>(type).delete({ namespace: NAMESPACE, name }, { signal }).catch(unlessGone),
    );
  }

  #of(type: ConfigType): Map<string, Record<string, string>> {
    const configs = this.configs.get(type);
    assert.ok(configs);
    return configs;
  }

  #name(): string {
    return `example-${++this.#names}`;
  }

  #count(what: string): void {
    this.#counts.set(what, (this.#counts.get(what) ?? 0) + 1);
  }
}

/** Tries until it is done, as long as a server that is away may be the reason. */
async function persist<T>(what: string, attempt: (signal: AbortSignal) => Promise<T>): Promise<T> {
  for (const end = Date.now() + PERSISTENCE_MS; ; await delay(RETRY_MS)) {
    const signal = AbortSignal.timeout(REQUEST_MS);
    try {
      return await attempt(signal);
    } catch (error) {
      const mayPass = isStatusError(error) || error instanceof ClientError || signal.aborted;
      if (!mayPass || Date.now() > end) throw new Error(`${what} was not possible`, { cause: error });
    }
  }
}

function unlessThere(error: unknown): void {
  if (!isAlreadyExists(error)) throw error;
}

function unlessGone(error: unknown): void {
  if (!isNotFound(error)) throw error;
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64');
}
