import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '@asterism/client';
import { SEARCH_PATH } from '@asterism/fleet/api';
import { DEPLOYMENTS, isStatusError, type KubeList, type KubeObject } from '@asterism/machinery';
import { formatColumns } from '../output/columns.ts';
import type { Terminal } from '../output/terminal.ts';
import type { MemberPlan } from '../up/member-plan.ts';
import type { Progress } from '../up/progress.ts';
import { type DemoTable, isSettled, readDemoTable } from './demo-table.ts';
import { DEMO_DEPLOYMENT, DEMO_NAMESPACE } from './manifests.ts';
import { startDemo } from './start-demo.ts';

/** After this long the table is shown as it stands: a person can see what is missing, and the rest goes on. */
const PATIENCE_MS = 60_000;

const COME_AGAIN_MS = 500;

/** Applies the demo where it is new, tells how it comes to stand, and prints the table of what stands where. */
export async function showDemo(
  hub: Client,
  members: readonly MemberPlan[],
  { progress, terminal, signal }: { progress: Progress; terminal: Terminal; signal: AbortSignal },
): Promise<void> {
  progress.waiting('demo', 'applying');
  await startDemo(hub, members);
  const patience = AbortSignal.any([signal, AbortSignal.timeout(PATIENCE_MS)]);
  let table = await readTable(hub, patience);
  const tell = (): void => {
    if (isSettled(table))
      progress.done('demo', `deployment.apps/${DEMO_DEPLOYMENT} ${table.deployment ?? 'was deleted'}`);
    else progress.waiting('demo', describeProgress(table));
  };
  tell();
  for await (const _ of changes(hub, patience)) {
    if (isSettled(table)) break;
    table = await readTable(hub, patience);
    tell();
    if (isSettled(table)) break;
  }
  if (signal.aborted) return;
  if (!isSettled(table))
    progress.failed('demo', `not complete after ${PATIENCE_MS / 1000} s: ${describeProgress(table)}`);
  await waitForSearch(hub, table, progress, patience);
  terminal.out(formatDemoTable(table));
}

/** A member that has just come back may not let the hub come as somebody yet: it says so, and whoever asks comes again. */
async function readTable(hub: Client, signal: AbortSignal): Promise<DemoTable> {
  for (;;) {
    try {
      return await readDemoTable(hub);
    } catch (error) {
      if (!isStatusError(error, 'ServiceUnavailable') || signal.aborted) throw error;
      await sleep(COME_AGAIN_MS, undefined, { signal }).catch(() => {});
    }
  }
}

function describeProgress({ deployment, rows }: DemoTable): string {
  const parts = rows.filter(({ replicas }) => replicas !== undefined);
  const shares = parts.map(({ cluster, ready, replicas }) => `${cluster} ${ready}/${replicas}`);
  return [`deployment.apps/${DEMO_DEPLOYMENT} ${deployment ?? '-'}`, ...shares].join(', ');
}

/** Once at the start and then at every change of the hub's Deployment, whose status tells of the members'. */
async function* changes(hub: Client, signal: AbortSignal): AsyncIterable<void> {
  const options = { namespace: DEMO_NAMESPACE, fieldSelector: `metadata.name=${DEMO_DEPLOYMENT}`, signal };
  try {
    while (!signal.aborted) for await (const _ of hub.resource(DEPLOYMENTS).watch(options)) yield;
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

/** The store follows the members within moments: this waits for them, so that what is printed is what a query finds. */
async function waitForSearch(hub: Client, table: DemoTable, progress: Progress, signal: AbortSignal): Promise<void> {
  const wanted = table.rows.reduce((sum, { ready }) => sum + (ready ?? 0), 0);
  progress.waiting('search', 'indexing');
  const path = `${SEARCH_PATH}/api/v1/namespaces/${DEMO_NAMESPACE}/pods`;
  for (;;) {
    const { items } = (await hub.getJson(path)) as KubeList<KubeObject>;
    if (items.length === wanted || signal.aborted) {
      progress.done('search', `one query finds ${items.length} pods of all members`);
      return;
    }
    await new Promise((resolve) => {
      setTimeout(resolve, 50);
    });
  }
}

export function formatDemoTable({ deployment, rows }: DemoTable): string {
  const cell = (value: string | number | undefined): string => (value === undefined ? '-' : String(value));
  const lines = rows.map((row) => [
    row.cluster,
    row.mode,
    row.region,
    cell(row.replicas),
    cell(row.ready),
    cell(row.image),
    row.why,
  ]);
  const head = ['CLUSTER', 'MODE', 'REGION', 'REPLICAS', 'READY', 'IMAGE', 'WHY'];
  const summary = deployment === undefined ? 'was deleted' : `${deployment} ready`;
  return `\n${formatColumns([head, ...lines])}\nIn the hub: deployment.apps/${DEMO_DEPLOYMENT} ${summary}\n`;
}
