import { readFile } from 'node:fs/promises';
import type { TestContext } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { API_VERSION, PROPAGATION_POLICIES, type PropagationPolicy } from '@asterism/fleet/api';
import { CONFIG_MAPS, NAMESPACES } from '@asterism/machinery';
import { MemberHistory } from './member-history.ts';
import { PlacedBindings } from './placed-bindings.ts';
import { PlacingFleet } from './placing-fleet.ts';

const MEMBERS = 5;
/** How many of them have the objects; the policy's change has all but one of these move. */
const PLACED = 3;
const LOOK_MS = 500;
const AT_ONCE = 16;
const NAMESPACE = 'many';

/**
 * So many ConfigMaps under one policy, in three of five clusters; then the policy changes, so that they are taken from two and come
 * to the other two, and the hub is killed (-9) in the midst of that; then the policy is deleted, and nothing is left.
 * Tells how long each took, and what memory the hub had.
 */
export async function placeMany(t: TestContext, objects: number, { killedAt, settledMs }: ManyOptions): Promise<void> {
  await using fleet = await PlacingFleet.start(MEMBERS);
  await using history = new MemberHistory(fleet.members);
  await using hub = new PlacedBindings(fleet.client);
  const names = fleet.members.map(({ name }) => name);
  const policies = fleet.client.resource(PROPAGATION_POLICIES);
  const maps = fleet.client.resource(CONFIG_MAPS);
  const standIn = async (what: string, clusters: readonly string[]): Promise<void> => {
    const began = performance.now();
    const wanted = (name: string): number => (clusters.includes(name) ? objects : 0);
    const bindings = clusters.length > 0 ? objects : 0;
    const faults = (): string[] => [
      ...names.flatMap((name) => differs(`objects in ${name}`, history.present(name).size, wanted(name))),
      ...differs('bindings', hub.bindings, bindings),
      ...differs('settled bindings', hub.settledIn(clusters), bindings),
      ...differs('Works', hub.works, objects * clusters.length),
    ];
    for (const end = began + settledMs; faults().length > 0; await delay(LOOK_MS)) {
      if (performance.now() <= end) continue;
      await fleet.keepLogs();
      throw new Error(`${what}: not settled: ${faults().join('; ')}`);
    }
    const seconds = (performance.now() - began) / 1000;
    const writes = `${history.writes} writes to members`;
    t.diagnostic(`${what}: ${seconds.toFixed(1)} s, ${writes}, ${await memoryOf(await fleet.daemon.pid())}`);
    history.beginRound();
  };
  await fleet.client.resource(NAMESPACES).create({ metadata: { name: NAMESPACE } });
  await policies.create(policy(names.slice(0, PLACED)));
  let left = objects;
  const create = async (): Promise<void> => {
    while (left-- > 0) {
      const metadata = { namespace: NAMESPACE, name: `many-${left}`, labels: { many: 'true' } };
      await maps.create({ metadata, data: { number: `${left}` } });
    }
  };
  const creating = Promise.all(Array.from({ length: AT_ONCE }, create));
  await Promise.all([creating, standIn(`${objects} objects placed in ${PLACED} clusters`, names.slice(0, PLACED))]);

  await policies.apply(policy(names.slice(-PLACED)), { fieldManager: 'user', force: true });
  const killed = async (): Promise<void> => {
    await history.reached(Math.ceil(killedAt * objects * 4), AbortSignal.timeout(settledMs));
    await fleet.daemon.kill();
    await fleet.daemon.start();
  };
  await Promise.all([
    killed(),
    standIn('moved to other clusters by a change of the policy, the hub killed meanwhile', names.slice(-PLACED)),
  ]);

  await policies.delete({ namespace: NAMESPACE, name: 'many' });
  await standIn('removed with the policy', []);
}

export interface ManyOptions {
  /** After which part of the writes to members that the move takes, from 0 to 1. */
  killedAt: number;
  /** How long each step may take. */
  settledMs: number;
}

function policy(clusterNames: string[]): PropagationPolicy {
  const selector = { apiVersion: 'v1', kind: 'ConfigMap', labelSelector: { matchLabels: { many: 'true' } } };
  return {
    apiVersion: API_VERSION,
    kind: 'PropagationPolicy',
    metadata: { namespace: NAMESPACE, name: 'many' },
    spec: { resourceSelectors: [selector], placement: { clusterAffinity: { clusterNames } } },
  };
}

function differs(what: string, found: number, wanted: number): string[] {
  return found === wanted ? [] : [`${found} ${what} for ${wanted}`];
}

/** What a process has of memory now, and the most that it ever had. */
async function memoryOf(pid: number): Promise<string> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  const megabytes = (field: string): number =>
    Math.round(Number(new RegExp(`^${field}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1]) / 1024);
  return `the hub has ${megabytes('VmRSS')} MiB, at most ${megabytes('VmHWM')} MiB`;
}
