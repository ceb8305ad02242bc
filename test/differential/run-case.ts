import { setTimeout as sleep } from 'node:timers/promises';
import { type Answers, fillTemplates } from '../conformance/fill-templates.ts';
import type { RecordedRequest } from '../conformance/scenario.ts';
import { type Answer, decodeProtobufBody, sendRequest, type Target } from '../conformance/send-request.ts';
import { isJsonObject } from '@asterism/machinery';
import { contains } from './contains.ts';
import type { DifferentialCase, DifferentialStep, RequestStep, UntilStep, WatchStep } from './differential-case.ts';
import { changed, type Fields } from './objects/generated-kind.ts';
import { watchUntilSentinel } from './watch-until-sentinel.ts';

/** What a server answered in one step: one answer, or of a watch those of the requests during it, and each watch's events. */
export interface StepOutcome {
  /** What was asked, for people. */
  what: string;
  /** The same of each answer. */
  requests: string[];
  answers: Answer[];
  events: unknown[][];
}

const UNTIL_EVERY_MS = 50;
const UNTIL_AT_MOST_MS = 30_000;

/** Runs the case in a namespace of its own, which it leaves. Rejects where a connection fails or an `until` is in vain. */
export async function runCase(one: DifferentialCase, target: Target): Promise<StepOutcome[]> {
  const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: one.name } };
  const made = await sendRequest(target, { method: 'POST', path: '/api/v1/namespaces', body: namespace });
  if (made.status !== 201) throw new Error(`no namespace for ${one.name}: ${made.status} ${JSON.stringify(made.body)}`);
  const outcomes: StepOutcome[] = [];
  for (const step of one.steps) {
    const before = outcomes.map(({ answers }) => answers[0]);
    outcomes.push(await runStep(step, before, target));
  }
  return outcomes;
}

async function runStep(step: DifferentialStep, before: Answers, target: Target): Promise<StepOutcome> {
  if ('until' in step) return await repeat(fillTemplates(step.until, before), target);
  if ('watches' in step) return await runWatches(fillTemplates(step, before), before, target);
  if ('together' in step) {
    const requests = fillTemplates([...step.together], before);
    const answers = await Promise.all(requests.map(async (request) => summary(await sendRequest(target, request))));
    const ordered = answers.sort((a, b) => JSON.stringify(a).localeCompare(JSON.stringify(b)));
    return { what: `${requests.length} at once`, requests: requests.map(describe), answers: ordered, events: [] };
  }
  const request = { ...fillTemplates(step.request, before), ...bodyOf(step, before) };
  const answer = await decodeProtobufBody(await sendRequest(target, request));
  return { what: describe(request), requests: [describe(request)], answers: [answer], events: [] };
}

function bodyOf({ replaces }: RequestStep, before: Answers): { body?: Fields } {
  if (!replaces) return {};
  const { body } = before[replaces.step] ?? {};
  return { body: changed(isJsonObject(body) ? body : {}, replaces.change) };
}

async function runWatches(step: WatchStep, before: Answers, target: Target): Promise<StepOutcome> {
  const opened = await Promise.all(step.watches.map((watch) => watchUntilSentinel(target, watch)));
  try {
    const answers: Answer[] = [];
    for (const request of step.during) answers.push(await sendRequest(target, fillTemplates(request, before)));
    const events = await Promise.all(opened.map(({ events: read }) => read));
    return { what: `watch ${step.watches[0]?.path}`, requests: step.during.map(describe), answers, events };
  } finally {
    for (const { close } of opened) close();
  }
}

async function repeat({ request, status, body }: UntilStep['until'], target: Target): Promise<StepOutcome> {
  const end = performance.now() + UNTIL_AT_MOST_MS;
  for (;;) {
    const answer = await sendRequest(target, request);
    if (answer.status === status && contains(answer.body, body)) {
      return { what: describe(request), requests: [], answers: [], events: [] };
    }
    if (performance.now() > end) throw new Error(`${describe(request)} still is ${answer.status}, not ${status}`);
    await sleep(UNTIL_EVERY_MS);
  }
}

function summary(answer: Answer): Answer {
  const { reason } = (answer.body ?? {}) as { reason?: string };
  return { status: answer.status, headers: {}, body: { reason } };
}

function describe({ method, path, query, body }: RecordedRequest): string {
  const search = new URLSearchParams(query as Record<string, string>).toString();
  const sent = body === undefined ? '' : ` ${JSON.stringify(body)}`;
  return `${method} ${path}${search === '' ? '' : `?${search}`}${sent}`;
}
