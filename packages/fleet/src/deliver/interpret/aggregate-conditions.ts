import { type Aggregation, type MemberReport, presentStatus, transitionTime } from './aggregation.ts';
import {
  conditionOf,
  isConditionStale,
  objectsOf,
  type Status,
  type StatusCondition,
  textOf,
} from './status-fields.ts';

/** What one cluster says of one condition: its own word, and what that counts. */
interface Said {
  cluster: string;
  condition: StatusCondition | undefined;
  counts: 'True' | 'False' | 'Unknown';
}

/** Names of conditions that are bad when True; one that is not there is then as good as False. */
const BAD_WHEN_TRUE = /^(?:Reconciling|Stalled)$|(?:Failed|Failure|Failing|Error|Degraded|Pressure|Conflict)$/;

const MESSAGE_LIMIT = 1024;

/**
 * One condition for each that a cluster has: True when it is in all of them, False when it is in one, else Unknown; one that is bad
 * when True is True when it is in one. The message names the clusters where it is otherwise. A cluster that has not the last change,
 * or whose condition speaks of a generation before it, does not count for True.
 *
 * A field that no cluster gives its conditions is not given here: the kind's schema may not have it.
 */
export function mergedConditions(aggregation: Aggregation): Status[] {
  const all = aggregation.reports.flatMap(({ status }) => objectsOf(status, 'conditions'));
  const types = new Set(all.flatMap((condition) => textOf(condition, 'type') ?? []));
  const given = new Set(all.flatMap((condition) => Object.keys(condition)));
  return [...types].map((type) => {
    const whole = merged(type, aggregation);
    return Object.fromEntries(
      Object.entries(whole).filter(([field, value]) => given.has(field) && value !== undefined),
    );
  });
}

function merged(type: string, aggregation: Aggregation): Status {
  const said = aggregation.reports.map((report) => saidOf(report, type));
  const status = BAD_WHEN_TRUE.test(type) ? worstOf(said, 'True', 'False') : worstOf(said, 'False', 'True');
  const decisive = said.filter(({ counts }) => counts === status);
  return {
    type,
    status,
    reason: reasonOf(decisive, status),
    message: messageOf(decisive, said.length, status),
    lastTransitionTime: transitionTime(aggregation, type, status),
    observedGeneration: generationOf(type, aggregation),
  };
}

function saidOf(report: MemberReport, type: string): Said {
  const { cluster, current, generation } = report;
  const condition = conditionOf(report.status, type);
  const absent = BAD_WHEN_TRUE.test(type) && report.status ? 'False' : 'Unknown';
  if (!condition) return { cluster, condition, counts: absent };
  const { status } = condition;
  if (status === 'True' && !BAD_WHEN_TRUE.test(type) && (!current || isConditionStale(condition, generation)))
    return { cluster, condition, counts: 'Unknown' };
  return { cluster, condition, counts: status === 'True' || status === 'False' ? status : 'Unknown' };
}

function worstOf(said: readonly Said[], bad: Said['counts'], good: Said['counts']): Said['counts'] {
  if (said.some(({ counts }) => counts === bad)) return bad;
  return said.some(({ counts }) => counts === 'Unknown') ? 'Unknown' : good;
}

/** The controllers' own word where there is one: clients look for some of them. */
function reasonOf(decisive: readonly Said[], status: string): string {
  const own = decisive.find(({ condition }) => condition?.status === status && condition.reason !== '');
  return own?.condition?.reason ?? 'NotToldEverywhere';
}

function messageOf(decisive: readonly Said[], clusters: number, status: string): string {
  const messages = decisive.map(({ condition }) => wordsOf(condition, status));
  const [first = ''] = messages;
  const alike = decisive.every(({ condition }, index) => condition?.status === status && messages[index] === first);
  if (alike && decisive.length === clusters) return first;
  const text = decisive
    .map(({ cluster }, index) => (messages[index] ? `${cluster}: ${messages[index]}` : cluster))
    .join('; ');
  return text.length > MESSAGE_LIMIT ? `${text.slice(0, MESSAGE_LIMIT - 1)}…` : text;
}

function wordsOf(condition: StatusCondition | undefined, status: string): string {
  if (!condition) return status === 'Unknown' ? 'has not said so yet' : '';
  return condition.status === status ? condition.message || condition.reason : 'has not taken up the last change yet';
}

/** The template's generation once every cluster's condition speaks of what the template says; kubectl waits for that. */
function generationOf(type: string, aggregation: Aggregation): number | undefined {
  const { reports, template } = aggregation;
  const speaksOfNow = ({ status, current, generation }: MemberReport): boolean => {
    const condition = conditionOf(status, type);
    return current && condition?.observedGeneration !== undefined && !isConditionStale(condition, generation);
  };
  if (reports.every(speaksOfNow)) return template.metadata?.generation;
  return conditionOf(presentStatus(aggregation), type)?.observedGeneration;
}
