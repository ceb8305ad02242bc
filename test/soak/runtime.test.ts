import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { CONFIG_MAPS, JOBS, type KubeObject, SECRETS } from '@asterism/machinery';
import { OWNER_UID_LABEL } from '@asterism/runtime';
import { TESTS } from '../../examples/multi-cluster-job/src/test-kind.ts';
import { CONTROL_PLANE_BINARIES, type ControlPlane } from '../cluster/control-plane.ts';
import { unlessNodes } from '../cluster/node-assets.ts';
import { unlessThere } from '../cluster/real-kubernetes.ts';
import { ExampleClusters } from '../examples/example-clusters.ts';
import { NAMESPACE } from '../examples/example-objects.ts';
import { Draw } from './draw.ts';
import { type ConfigType, ExampleChanges } from './example-changes.ts';
import { ExampleBreakages } from './example-breakages.ts';
import { mulberry32 } from './mulberry32.ts';
import { seededRandom } from './seeded-random.ts';

const MINUTES = Number(process.env['ASTERISM_SOAK_MINUTES'] ?? 10);
/** A watch that failed again and again waits for up to half a minute; a Lease for 15 s; Kubernetes itself is slow on this machine. */
const SETTLED_MS = 120_000;
const LOOK_MS = 500;
const LONGEST_PAUSE_MS = 1_500;

test(`both examples for ${MINUTES} minutes: clusters come, go, die, freeze and forget, operators are killed, while changes go on`, {
  skip: unlessNodes() || unlessThere(...CONTROL_PLANE_BINARIES, 'kubectl-1.36'),
}, async (t) => {
  const random = seededRandom(t);
  const [ofChanges, ofBreakages] = [0, 1].map(() => new Draw(mulberry32(random() * 2 ** 32)));
  assert.ok(ofChanges && ofBreakages);
  await using clusters = await ExampleClusters.start();
  const changes = new ExampleChanges(clusters.main, ofChanges);
  const breakages = new ExampleBreakages(clusters, ofBreakages);
  await breakages.join(clusters.lyon);
  const state = new ExampleState(clusters, changes, () => breakages.members);
  for (const end = Date.now() + MINUTES * 60_000; Date.now() < end; ) {
    const chosen = breakages.next();
    const names = chosen.map(({ name }) => name).join('; ');
    await meanwhile(
      async () => {
        await changes.make(breakages.members);
        await delay(ofChanges.int(0, LONGEST_PAUSE_MS));
      },
      () => Promise.all(chosen.map((breakage) => breakage.happen())),
    );
    const begin = Date.now();
    await state.settled().catch(async (cause: unknown) => {
      await keepLogs(clusters);
      throw new Error(`not settled after: ${names}`, { cause });
    });
    t.diagnostic(`${names}: settled after ${Date.now() - begin} ms`);
  }
  t.diagnostic(`${changes.summary}; ${changes.tests.size} Tests at the end`);
  await state.assertLogsAreSound();
});

/** What the operators have logged, where somebody wants to read it. */
async function keepLogs({ operators }: ExampleClusters): Promise<void> {
  const folder = process.env['ASTERISM_SOAK_LOGS'];
  if (!folder) return;
  for (const operator of operators) await writeFile(join(folder, `${operator.name}.log`), await operator.logs());
}

/** Does something over and over for as long as something else takes, and once at least. */
async function meanwhile(again: () => Promise<void>, what: () => Promise<unknown>): Promise<void> {
  let over = false;
  const repeating = async (): Promise<void> => {
    do await again();
    while (!over);
  };
  const happening = what().finally(() => (over = true));
  await Promise.all([happening, repeating()]);
}

/** What must hold whenever nothing is broken. */
class ExampleState {
  readonly #clusters: ExampleClusters;
  readonly #wanted: ExampleChanges;
  readonly #members: () => readonly ControlPlane[];
  readonly #finished = new Set<string>();

  constructor(clusters: ExampleClusters, wanted: ExampleChanges, members: () => readonly ControlPlane[]) {
    this.#clusters = clusters;
    this.#wanted = wanted;
    this.#members = members;
  }

  /** Resolves when all is as wanted; rejects with what is not, after two minutes. */
  async settled(): Promise<void> {
    for (const end = Date.now() + SETTLED_MS; ; await delay(LOOK_MS)) {
      try {
        for (const operator of this.#clusters.operators) await operator.restartEnded();
        await this.#check();
        return;
      } catch (error) {
        if (Date.now() > end) throw error;
        this.#assertNothingDoubled();
      }
    }
  }

  async assertLogsAreSound(): Promise<void> {
    for (const operator of this.#clusters.operators) {
      const logs = await operator.logs();
      assert.doesNotMatch(logs, /panic|TypeError|ReferenceError|RangeError|a mistake in its code/, operator.name);
      // As it is written, and in base64.
      assert.doesNotMatch(logs, /hunter2|aHVudGVyM/, operator.name);
    }
  }

  async #check(): Promise<void> {
    const { main } = this.#clusters;
    const members = this.#members();
    await this.#checkTests();
    for (const cluster of [main, ...members]) await this.#checkJobs(cluster);
    for (const cluster of members) {
      await this.#checkCopies(cluster, CONFIG_MAPS);
      await this.#checkCopies(cluster, SECRETS);
    }
    this.#assertNothingDoubled();
  }

  async #checkTests(): Promise<void> {
    const { main, paris } = this.#clusters;
    const { items } = await main.client.resource(TESTS).list({ namespace: NAMESPACE });
    const found = new Map(items.map(({ metadata }) => [metadata?.name ?? '', metadata?.uid ?? '']));
    assert.deepEqual(sorted(found), sorted(this.#wanted.tests), 'Tests');
    // Jobs complete in Paris alone.
    const all = this.#members().includes(paris);
    for (const { metadata, status } of items) {
      const { uid = '', name } = metadata ?? {};
      if (status?.phase === 'finished') this.#finished.add(uid);
      const wanted = all || this.#finished.has(uid) ? 'finished' : 'running';
      assert.equal(status?.phase, wanted, `phase of ${name}`);
    }
  }

  /** One for each Test, and none of a Test that has gone. */
  async #checkJobs({ name, client }: ControlPlane): Promise<void> {
    const { items } = await client.resource(JOBS).list({ namespace: NAMESPACE });
    const found = new Map(items.map(({ metadata }) => [metadata?.name ?? '', ownerOf(metadata)]));
    assert.deepEqual(sorted(found), sorted(this.#wanted.tests), `Jobs in ${name}`);
  }

  async #checkCopies({ name, client }: ControlPlane, type: ConfigType): Promise<void> {
    const { items } = await client.resource<KubeObject>(type).list({ namespace: NAMESPACE });
    const found = new Map<string, unknown>();
    for (const { metadata, ...rest } of items) {
      const { data, immutable, type: ofSecret } = rest as { data?: object; immutable?: boolean; type?: string };
      if (metadata?.name === 'kube-root-ca.crt' || ofSecret?.startsWith('kubernetes.io/')) continue;
      found.set(metadata?.name ?? '', { data, immutable, app: metadata?.labels?.['app'] });
    }
    const wanted = new Map<string, unknown>();
    for (const [of, data] of this.#wanted.configs.get(type) ?? []) {
      wanted.set(of, { data, immutable: undefined, app: 'example' });
    }
    assert.deepEqual(sorted(found), sorted(wanted), `${type.resource} in ${name}`);
  }

  /** By all that was ever seen, of Tests that have gone too. */
  #assertNothingDoubled(): void {
    for (const [index, seen] of this.#clusters.seen.entries()) {
      const doubled = [...seen.byLabel(OWNER_UID_LABEL)].filter(([, jobs]) => jobs > 1);
      assert.deepEqual(doubled, [], `Tests with several Jobs in ${this.#clusters.planes[index]?.name}`);
    }
  }
}

function ownerOf(metadata: KubeObject['metadata']): string {
  return metadata?.labels?.[OWNER_UID_LABEL] ?? '';
}

function sorted<T>(map: ReadonlyMap<string, T>): [string, T][] {
  return [...map].toSorted(([a], [b]) => a.localeCompare(b));
}
