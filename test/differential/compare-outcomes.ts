import { firstDifference } from '../conformance/first-difference.ts';
import { normalise } from '../conformance/normalise.ts';
import type { Scenario } from '../conformance/scenario.ts';
import type { Answer } from '../conformance/send-request.ts';
import { contains } from './contains.ts';
import type { DifferentialCase, DifferentialStep } from './differential-case.ts';
import { asNewer } from './differences/as-newer.ts';
import { KNOWN_DIFFERENCES } from './known-differences.ts';
import type { StepOutcome } from './run-case.ts';

/** How our server answered a case otherwise than it should have. */
export interface Difference {
  step: number;
  /** The request. */
  what: string;
  /** Where, and both values. */
  how: string;
}

/**
 * Compares our answers with those of the real server, both without what may differ from server to server, after the real ones
 * were turned into what 1.36 answers. `used` gets the names of the known differences that were met.
 */
export function compareOutcomes(
  one: DifferentialCase,
  real: readonly StepOutcome[],
  own: readonly StepOutcome[],
  used: Set<string>,
): Difference[] {
  const pairs = one.steps.map((step, index) => {
    const pair = { real: real[index] as StepOutcome, own: own[index] as StepOutcome };
    return isDecidedByNewer(step)
      ? { real: withoutAnswers(pair.real), own: withoutAnswers(pair.own) }
      : asNewer(KNOWN_DIFFERENCES, pair, used);
  });
  const scenario = asScenario(one);
  const wanted = normalise(
    scenario,
    pairs.map(({ real: outcome }) => flat(outcome)),
  );
  const given = normalise(
    scenario,
    pairs.map(({ own: outcome }) => flat(outcome)),
  );
  return one.steps.flatMap((step, index) => {
    const how = isDecidedByNewer(step)
      ? newerDifference(step, own[index] as StepOutcome)
      : firstDifference(wanted[index], given[index]);
    return how === undefined ? [] : [{ step: index, what: own[index]?.what ?? '', how }];
  });
}

function isDecidedByNewer(step: DifferentialStep): boolean {
  return 'since' in step && step.since !== undefined;
}

function newerDifference(step: DifferentialStep, own: StepOutcome): string | undefined {
  if ('watches' in step) {
    const events = own.events[0] ?? [];
    const wanted = step.since?.events ?? [];
    if (events.length === wanted.length && contains(events, wanted)) return undefined;
    return `1.36: ${step.since?.because}\n  1.36: ${JSON.stringify(wanted)}\n  own:  ${JSON.stringify(events)}`;
  }
  if (!('request' in step) || !step.since) return undefined;
  const { because, status, body } = step.since;
  const answer = own.answers[0];
  if (answer?.status === status && contains(answer.body ?? answer.bodyText, body)) return undefined;
  return `1.36: ${because}\n  1.36: ${status} ${JSON.stringify(body)}\n  own:  ${answer?.status} ${JSON.stringify(answer?.body ?? answer?.bodyText)}`;
}

function withoutAnswers({ what }: StepOutcome): StepOutcome {
  return { what, requests: [], answers: [], events: [] };
}

/** What the normaliser walks over: the answers, and the events of all watches as one list of lists. */
function flat({ what, answers, events }: StepOutcome): { what: string; answers: Answer[]; events: unknown[] } {
  return { what, answers: answers.map(comparedPart), events };
}

/** Warnings are 1.36's own: their cases say `since`. */
function comparedPart({ headers, ...answer }: Answer): Answer {
  const { location, 'content-type': type } = headers;
  return {
    ...answer,
    headers: {
      ...(location === undefined ? {} : { location }),
      ...(type === undefined ? {} : { 'content-type': type }),
    },
  };
}

/** The requests, for what stays as it is because a request said it. */
function asScenario({ name, subject, steps }: DifferentialCase): Scenario {
  const response = { status: 0, headers: {} };
  const requests = steps.flatMap((step) => {
    if ('request' in step) return [step.replaces ? { ...step.request, body: step.replaces.change } : step.request];
    if ('together' in step) return step.together;
    return 'during' in step ? step.during : [];
  });
  return { name, area: subject, steps: requests.map((request) => ({ request, response })) };
}
