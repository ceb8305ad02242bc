import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import type { Client } from '@asterism/client';
import { ControlPlane } from '../cluster/control-plane.ts';
import { type KlogError, klogErrors } from '../cluster/klog-errors.ts';
import { OwnControlPlane } from '../cluster/own-control-plane.ts';
import { RunFolder } from '../cluster/run-folder.ts';
import { Choices } from '../differential/choices.ts';
import { churnProgram } from './churn-program.ts';
import { ChurnedPlane } from './churned-plane.ts';
import { readClusterFacts } from './cluster-facts.ts';
import { groupErrors } from './error-kinds.ts';
import { EXPLAINED_ERRORS } from './explained-errors.ts';

export interface ChurnOptions {
  seed: number;
  changes: number;
  durationMs: number;
  /** After how many seconds without its Lease a node is lost. */
  graceSeconds: number;
}

/** What `unlessThere` must find. */
export const CHURN_BINARIES = ['etcd', 'kube-apiserver', 'kube-controller-manager', 'kube-scheduler'] as const;

const LEAST_OBJECTS = 500;
const CONTENT_TYPE = 'application/vnd.kubernetes.protobuf';
const LEADER_FLAGS = ['--leader-elect=true', '--leader-elect-retry-period=500ms'];
const SETTLE_MS = 90_000;
const LOOK_EVERY_MS = 1_000;
const MOST_SHOWN = 60;
const MOST_OF_LINE = 1_500;

/**
 * The same changes at the same time to our server and to a real kube-apiserver 1.20 with etcd, each with a real
 * kube-controller-manager and kube-scheduler of its own, started with the same controllers. In the end both must have the same
 * objects, and the programs before ours must have met no kind of error that those before the real one did not.
 */
export async function runChurnSuite(context: TestContext, options: ChurnOptions): Promise<void> {
  const { seed, changes, durationMs } = options;
  await using run = await RunFolder.open();
  const flags = controllerFlags(options);
  await using own = await OwnControlPlane.start(run, { name: 'own', contentType: CONTENT_TYPE, flags });
  await using real = await ControlPlane.start(run, {
    name: 'real',
    scheduler: true,
    flags: {
      apiServer: ['--service-cluster-ip-range=10.96.0.0/16'],
      controllerManager: [...LEADER_FLAGS, ...flags],
      scheduler: LEADER_FLAGS,
    },
  });
  await using ours = new ChurnedPlane(own.client);
  await using theirs = new ChurnedPlane(real.client);
  const program = (): ReturnType<typeof churnProgram> => churnProgram(new Choices(seed, 'churn'), changes);
  await Promise.all([ours.run(program(), durationMs), theirs.run(program(), durationMs)]);
  const facts = await settled(own.client, real.client);
  context.diagnostic(`${facts.length} objects`);
  assert.ok(facts.length >= LEAST_OBJECTS, `${facts.length} objects`);
  assertErrors(context, await klogErrors(own.folder), await klogErrors(real.folder));
  assert.deepEqual(own.complaints, []);
}

function controllerFlags({ graceSeconds }: ChurnOptions): string[] {
  return [
    '--node-monitor-period=2s',
    `--node-monitor-grace-period=${graceSeconds}s`,
    '--horizontal-pod-autoscaler-sync-period=5s',
    '--pvclaimbinder-sync-period=2s',
    // The default of 20 requests a second is what a churn of this size waits for.
    '--kube-api-qps=100',
    '--kube-api-burst=200',
  ];
}

/** Resolves with what both clusters hold once that is the same, and stays so for as long as one looks away. */
async function settled(own: Client, real: Client): Promise<string[]> {
  const end = performance.now() + SETTLE_MS;
  let same: string[] | undefined;
  for (;;) {
    const [ours, theirs] = await Promise.all([readClusterFacts(own), readClusterFacts(real)]);
    const differences = differencesBetween(ours, theirs);
    if (differences.length === 0 && same?.join('\n') === ours.join('\n')) return ours;
    same = differences.length === 0 ? ours : undefined;
    if (performance.now() > end) {
      const shown = differences.slice(0, MOST_SHOWN).join('\n');
      assert.fail(`${differences.length} objects are not the same ${SETTLE_MS} ms after the last change:\n${shown}`);
    }
    await delay(LOOK_EVERY_MS);
  }
}

/** What only one of them has; each as often as it has it more often. */
function differencesBetween(ours: readonly string[], theirs: readonly string[]): string[] {
  const left = new Map<string, number>();
  for (const line of ours) left.set(line, (left.get(line) ?? 0) + 1);
  for (const line of theirs) left.set(line, (left.get(line) ?? 0) - 1);
  return [...left]
    .filter(([, count]) => count !== 0)
    .map(([line, count]) => `${count > 0 ? 'ours' : 'real'} ${line}`)
    .sort(byObject);
}

function byObject(a: string, b: string): number {
  return a.slice(5).localeCompare(b.slice(5));
}

function assertErrors(context: TestContext, own: readonly KlogError[], real: readonly KlogError[]): void {
  const [ours, theirs] = [groupErrors(own), groupErrors(real)];
  for (const kind of new Set([...ours.keys(), ...theirs.keys()])) {
    context.diagnostic(`${ours.get(kind)?.length ?? 0} ours, ${theirs.get(kind)?.length ?? 0} real: ${kind}`);
  }
  const alone = [...ours].filter(
    ([kind, [first]]) => !theirs.has(kind) && !EXPLAINED_ERRORS.some(({ line }) => line.test(first?.line ?? '')),
  );
  const shown = alone.map(([kind, [first]]) => `${kind}\n  ${first?.line.slice(0, MOST_OF_LINE)}`);
  assert.deepEqual(shown, [], 'kinds of errors that are met before our server alone');
}
