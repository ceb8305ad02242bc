import { setTimeout as sleep } from 'node:timers/promises';
import { type Answers, fillTemplates } from './fill-templates.ts';
import { runWatch } from './run-watch.ts';
import type { Scenario, Step } from './scenario.ts';
import { type Answer, decodeProtobufBody, sendRequest, type Target } from './send-request.ts';

/** The answers of one step: one, or of a watch those of its `during` and its events. */
export interface StepAnswers {
  /** What was asked, for people. */
  what: string;
  answers: Answer[];
  events: unknown[];
}

export interface ScenarioRun {
  /** Of each step that is compared. */
  recorded: StepAnswers[];
  own: StepAnswers[];
}

const WAIT_EVERY_MS = 20;
const WAIT_AT_MOST_MS = 20_000;

/** Runs all steps against the server, each with the values that it gave before. Rejects where a wait is in vain. */
export async function runScenario(scenario: Scenario, target: Target): Promise<ScenarioRun> {
  const run: ScenarioRun = { recorded: [], own: [] };
  const answers: (Partial<Answer> | undefined)[] = [];
  for (const step of scenario.steps) answers.push(await runStep(step, answers, target, run));
  return run;
}

async function runStep(
  step: Step,
  before: Answers,
  target: Target,
  run: ScenarioRun,
): Promise<Partial<Answer> | undefined> {
  // Only caches of other servers need the time.
  if ('sleep' in step) return undefined;
  if ('wait' in step) return await waitFor(fillTemplates(step.wait, before), target);
  if ('watch' in step) {
    const own = await runWatch(step, before, target);
    const what = `watch ${step.watch.path}`;
    run.recorded.push({ what, answers: await decoded(responsesOf(step.during)), events: step.events });
    run.own.push({ what, answers: await decoded(own.answers), events: own.events });
    return undefined;
  }
  const answer = await sendRequest(target, fillTemplates(step.request, before));
  const what = `${step.request.method} ${step.request.path}`;
  run.recorded.push({ what, answers: await decoded([step.response]), events: [] });
  run.own.push({ what, answers: await decoded([answer]), events: [] });
  return answer;
}

function responsesOf(during: readonly Step[] = []): Answer[] {
  return during.flatMap((step) => ('response' in step ? [step.response] : []));
}

async function decoded(answers: readonly Answer[]): Promise<Answer[]> {
  return await Promise.all(answers.map(decodeProtobufBody));
}

async function waitFor({ request, status }: Extract<Step, { wait: unknown }>['wait'], target: Target): Promise<Answer> {
  const end = performance.now() + WAIT_AT_MOST_MS;
  for (;;) {
    const answer = await sendRequest(target, request);
    if (answer.status === status) return answer;
    if (performance.now() > end) {
      throw new Error(`waited 20 s for ${request.method} ${request.path} to be ${status}; it is ${answer.status}`);
    }
    await sleep(WAIT_EVERY_MS);
  }
}
