import type {
  Container,
  ContainerState,
  ContainerStateTerminated,
  ContainerStatus,
  Pod,
} from '../generated/core-v1.ts';
import { findCondition, isConditionTrue } from '../conditions.ts';
import { NONE } from './cell-text.ts';
import { translateTimestampSince } from './format-age.ts';
import {
  AGE,
  NAME,
  type TablePrinter,
  type TableRowCondition,
  defineSummarizingPrinter,
  text,
  wide,
} from './table-printer.ts';

export const POD_PRINTER: TablePrinter = defineSummarizingPrinter<Pod, Summary>(
  summarize,
  [
    NAME,
    text('Ready', (_, __, { ready }) => ready),
    text('Status', (_, __, { status }) => status),
    text('Restarts', (_, now, summary) => restartsText(summary, now)),
    AGE,
    ...wide<Pod>(
      text('IP', ({ status }) => status?.podIPs?.[0]?.ip || status?.podIP || NONE),
      text('Node', ({ spec }) => spec?.nodeName || NONE),
      text('Nominated Node', ({ status }) => status?.nominatedNodeName || NONE),
      text('Readiness Gates', readinessGates),
    ),
  ],
  ({ status }) => ENDED.get(status?.phase ?? ''),
);

const ENDED: ReadonlyMap<string, TableRowCondition[]> = new Map([
  ['Succeeded', [over('Succeeded', 'The pod has completed successfully.')]],
  ['Failed', [over('Failed', 'The pod failed.')]],
]);

function over(reason: string, message: string): TableRowCondition {
  return { type: 'Completed', status: 'True', reason, message };
}

interface Summary {
  ready: string;
  status: string;
  restarts: number;
  lastRestart: string | undefined;
}

/** What the containers have come to: init containers count while they run, the others after. */
interface Progress {
  reason: string | undefined;
  readyCount: number;
  counted: ContainerStatus[];
}

function summarize(pod: Pod): Summary {
  const { spec, status, metadata } = pod;
  const sidecars = new Set((spec?.initContainers ?? []).filter(isSidecar).map(({ name }) => name));
  const init = followInit(pod, sidecars);
  const initialized = init.reason === undefined || isConditionTrue(status?.conditions, 'Initialized');
  const main = initialized ? followMain(pod) : undefined;
  const counted = main ? [...init.counted.filter(({ name }) => sidecars.has(name)), ...main.counted] : init.counted;
  const ready = init.readyCount + (main?.readyCount ?? 0);

  const scheduling = findCondition(status?.conditions, 'PodScheduled');
  let reason = status?.reason || status?.phase || '';
  if (scheduling?.reason === 'SchedulingGated') reason = 'SchedulingGated';
  reason = main?.reason ?? init.reason ?? reason;
  if (main && reason === 'Completed') reason = completedText(pod, main);
  if (metadata?.deletionTimestamp && status?.reason === 'NodeLost') reason = 'Unknown';
  else if (metadata?.deletionTimestamp && !ENDED.has(status?.phase ?? '')) reason = 'Terminating';

  return {
    ready: `${ready}/${(spec?.containers ?? []).length + sidecars.size}`,
    status: reason,
    restarts: counted.reduce((sum, { restartCount }) => sum + restartCount, 0),
    lastRestart: counted.map(({ lastState }) => lastState?.terminated?.finishedAt ?? '').reduce(later, '') || undefined,
  };
}

/** An init container that keeps running beside the others. */
function isSidecar(container: Container): boolean {
  return container.restartPolicy === 'Always';
}

/** Goes through the init containers up to the first that is not done; that one gives the reason. */
function followInit({ spec, status }: Pod, sidecars: ReadonlySet<string>): Progress {
  const counted: ContainerStatus[] = [];
  let readyCount = 0;
  for (const [i, container] of (status?.initContainerStatuses ?? []).entries()) {
    counted.push(container);
    const { terminated, waiting } = container.state ?? {};
    if (terminated?.exitCode === 0) continue;
    if (sidecars.has(container.name) && container.started) {
      if (container.ready) readyCount += 1;
      continue;
    }
    const why = terminated ? endText(terminated) : waiting?.reason === 'PodInitializing' ? undefined : waiting?.reason;
    const reason = `Init:${why || `${i}/${(spec?.initContainers ?? []).length}`}`;
    return { reason, readyCount, counted };
  }
  return { reason: undefined, readyCount, counted };
}

/** The first container that waits or has ended gives the reason. */
function followMain({ status }: Pod): Progress {
  const counted = status?.containerStatuses ?? [];
  const reason = counted.map(({ state }) => stoppedText(state)).find((text) => text !== undefined);
  const running = counted.filter(({ ready, state }) => ready && state?.running && stoppedText(state) === undefined);
  return { reason, readyCount: running.length, counted };
}

/** A container that completed says nothing of a pod in which another runs or has failed. */
function completedText({ status }: Pod, { readyCount, counted }: Progress): string {
  if (readyCount > 0 && isConditionTrue(status?.conditions, 'Ready')) return 'Running';
  const failed = counted.find(({ state }) => !state?.waiting?.reason && (state?.terminated?.exitCode ?? 0) !== 0);
  return stoppedText(failed?.state) ?? (readyCount > 0 ? 'NotReady' : 'Completed');
}

function stoppedText(state: ContainerState | undefined): string | undefined {
  if (state?.waiting?.reason) return state.waiting.reason;
  return state?.terminated ? endText(state.terminated) : undefined;
}

function endText({ reason, signal, exitCode }: ContainerStateTerminated): string {
  return reason || (signal ? `Signal:${signal}` : `ExitCode:${exitCode}`);
}

function later(a: string, b: string): string {
  return b !== '' && (a === '' || Date.parse(b) > Date.parse(a)) ? b : a;
}

function restartsText({ restarts, lastRestart }: Summary, now: number): string {
  return restarts > 0 && lastRestart ? `${restarts} (${translateTimestampSince(lastRestart, now)} ago)` : `${restarts}`;
}

function readinessGates({ spec, status }: Pod): string {
  const gates = spec?.readinessGates ?? [];
  const open = gates.filter(({ conditionType }) => isConditionTrue(status?.conditions, conditionType));
  return gates.length === 0 ? NONE : `${open.length}/${gates.length}`;
}
