import { isIP } from 'node:net';
import { isJsonObject, isQuantity } from '@asterism/machinery';
import { FIELDS_OF_A_LARGE_STATUS, pickFields, REFLECTED_FIELDS, STATUS_LIMIT } from './reflected-fields.ts';
import { fieldsOf, LARGEST_COUNT, type Status } from './status-fields.ts';

/** What the hub takes of a status that a cluster reports. */
export interface JudgedStatus {
  status: Status | undefined;
  /** Why it is not what the cluster reported: `readyReplicas 5 is more than replicas 0`. It quotes at most a short text. */
  fault?: string;
}

const LARGEST_CONDITIONS = 64;
const LARGEST_MESSAGE = 1_024;
const LARGEST_DEPTH = 64;
const LARGEST_LIST = 256;

/**
 * Judges a status before the hub uses it. A cluster may report anything, and the reports of all clusters are added up: an absurd one must
 * neither be stored at its full size nor make the sum one that the template's API server refuses.
 *
 * J1  Of a kind that Kubernetes defines, only the fields that the hub uses are taken.
 * J2  A counter is a whole number from 0 to 2,147,483,647, and no part is more than its whole. These are the rules of the kinds' own
 *     validation in Kubernetes.
 * J3  A time, an address and a quantity are what they say they are.
 * J4  A condition has the shape of one; its message is cut to 1,024 characters. At most 64 conditions are taken.
 * J5  A status of more than 8,192 characters is cut to its generation, phase and conditions, or is not taken.
 * J6  A status that breaks J2 or J3 is not taken at all: nothing tells which part of it is true.
 */
export function judgeStatus(kind: string, reported: unknown): JudgedStatus {
  if (!isJsonObject(reported)) return { status: undefined };
  const fields = REFLECTED_FIELDS.get(kind);
  const status = withConditions(fields ? pickFields(reported, fields) : reported);
  if (isDeeperThan(status, LARGEST_DEPTH)) return refused(`it is nested more than ${LARGEST_DEPTH} levels deep`);
  const fault = generationFault(status) ?? countFault(kind, status) ?? (fields && valueFault(status));
  return fault === undefined ? cut(status) : refused(fault);
}

function refused(fault: string): JudgedStatus {
  return { status: undefined, fault };
}

function cut(status: Status): JudgedStatus {
  if (sizeOf(status) <= STATUS_LIMIT) return { status };
  const short = pickFields(status, FIELDS_OF_A_LARGE_STATUS);
  if (sizeOf(short) <= STATUS_LIMIT) return { status: short, fault: `it is larger than ${STATUS_LIMIT} characters` };
  return refused(`it is larger than ${STATUS_LIMIT} characters, and so are its conditions`);
}

function sizeOf(value: unknown): number {
  return JSON.stringify(value).length;
}

function isDeeperThan(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some((member) => isDeeperThan(member, levels - 1));
}

function withConditions(status: Status): Status {
  const { conditions } = status;
  if (conditions === undefined) return status;
  const taken = Array.isArray(conditions) ? conditions.slice(0, LARGEST_CONDITIONS).flatMap(conditionFrom) : [];
  return { ...status, conditions: taken };
}

/** A name of a condition's type, as the metadata of Kubernetes defines it for all kinds. */
const CONDITION_TYPE = /^[A-Za-z0-9][-A-Za-z0-9_./]{0,315}$/;

function conditionFrom(value: unknown): Status[] {
  if (!isJsonObject(value)) return [];
  const { type, status, reason, message } = value;
  if (typeof type !== 'string' || typeof status !== 'string' || !CONDITION_TYPE.test(type)) return [];
  const texts = Object.entries({ reason, message }).flatMap(([field, text]) =>
    typeof text === 'string' ? [[field, shortened(text)]] : [],
  );
  return [{ ...value, ...Object.fromEntries(texts) }];
}

function shortened(text: string): string {
  return text.length > LARGEST_MESSAGE ? `${text.slice(0, LARGEST_MESSAGE - 1)}…` : text;
}

function generationFault(status: Status): string | undefined {
  const { observedGeneration } = status;
  if (observedGeneration === undefined || (Number.isSafeInteger(observedGeneration) && Number(observedGeneration) >= 0))
    return undefined;
  return `observedGeneration ${quoted(observedGeneration)} is not a generation`;
}

/** By kind: counters, and of two counters the part and the whole. */
const COUNTERS: ReadonlyMap<string, { counters: readonly string[]; parts?: readonly (readonly [string, string])[] }> =
  new Map([
    [
      'Deployment.apps',
      {
        counters: ['replicas', 'readyReplicas', 'updatedReplicas', 'availableReplicas', 'unavailableReplicas'],
        parts: [
          ['updatedReplicas', 'replicas'],
          ['readyReplicas', 'replicas'],
          ['availableReplicas', 'replicas'],
          ['availableReplicas', 'readyReplicas'],
        ],
      },
    ],
    [
      'StatefulSet.apps',
      {
        counters: ['replicas', 'readyReplicas', 'currentReplicas', 'updatedReplicas', 'availableReplicas'],
        parts: [
          ['readyReplicas', 'replicas'],
          ['currentReplicas', 'replicas'],
          ['updatedReplicas', 'replicas'],
          ['availableReplicas', 'replicas'],
          ['availableReplicas', 'readyReplicas'],
        ],
      },
    ],
    [
      'ReplicaSet.apps',
      {
        counters: ['replicas', 'fullyLabeledReplicas', 'readyReplicas', 'availableReplicas'],
        parts: [
          ['fullyLabeledReplicas', 'replicas'],
          ['readyReplicas', 'replicas'],
          ['availableReplicas', 'replicas'],
          ['availableReplicas', 'readyReplicas'],
        ],
      },
    ],
    [
      'DaemonSet.apps',
      {
        counters: [
          'currentNumberScheduled',
          'desiredNumberScheduled',
          'numberAvailable',
          'numberMisscheduled',
          'numberReady',
          'numberUnavailable',
          'updatedNumberScheduled',
        ],
      },
    ],
    ['Job.batch', { counters: ['active', 'succeeded', 'failed', 'ready'], parts: [['ready', 'active']] }],
    [
      'PodDisruptionBudget.policy',
      { counters: ['currentHealthy', 'desiredHealthy', 'disruptionsAllowed', 'expectedPods'] },
    ],
    ['HorizontalPodAutoscaler.autoscaling', { counters: ['currentReplicas', 'desiredReplicas'] }],
  ]);

function countFault(kind: string, status: Status): string | undefined {
  const { counters = [], parts = [] } = COUNTERS.get(kind) ?? {};
  const count = (field: string): number => Number(status[field] ?? 0);
  const odd = counters.find((field) => {
    const value = status[field] ?? 0;
    return !(Number.isInteger(value) && count(field) >= 0 && count(field) <= LARGEST_COUNT);
  });
  if (odd !== undefined) return `${odd} ${quoted(status[odd])} is not a count`;
  const broken = parts.find(([part, whole]) => count(part) > count(whole));
  return broken && `${broken[0]} ${count(broken[0])} is more than ${broken[1]} ${count(broken[1])}`;
}

const TIMES: readonly string[] = ['startTime', 'completionTime', 'lastScheduleTime', 'lastSuccessfulTime'];
const PHASES = /^[A-Za-z]{1,64}$/;

/** What is wrong with the texts of a known kind. */
function valueFault(status: Status): string | undefined {
  const { phase, startTime, completionTime } = status;
  const odd = TIMES.find((field) => status[field] !== undefined && !isTime(status[field]));
  if (odd !== undefined) return `${odd} ${quoted(status[odd])} is not a time`;
  if (isTime(startTime) && isTime(completionTime) && completionTime < startTime)
    return 'completionTime is before startTime';
  if (phase !== undefined && !(typeof phase === 'string' && PHASES.test(phase)))
    return `phase ${quoted(phase)} is not a phase`;
  return listFault(status) ?? addressFault(status) ?? claimFault(status) ?? disruptionFault(status);
}

function isTime(value: unknown): value is string {
  return typeof value === 'string' && value.length <= 40 && isRfc3339(value) && !Number.isNaN(Date.parse(value));
}

function isRfc3339(text: string): boolean {
  return /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)$/.test(text);
}

/** Lists of a CronJob's running Jobs and of addresses are added up. */
function listFault(status: Status): string | undefined {
  const lists = { active: status['active'], ingress: fieldsOf(status['loadBalancer'])['ingress'] };
  for (const [field, list] of Object.entries(lists)) {
    if (!Array.isArray(list)) continue;
    if (list.length > LARGEST_LIST) return `${field} has more than ${LARGEST_LIST} items`;
    if (!list.every(isJsonObject)) return `${field} has an item that is not an object`;
  }
  return undefined;
}

function addressFault(status: Status): string | undefined {
  const { ingress } = fieldsOf(status['loadBalancer']);
  if (!Array.isArray(ingress)) return undefined;
  for (const { ip, hostname } of ingress.map(fieldsOf)) {
    if (ip !== undefined && !(typeof ip === 'string' && isIP(ip) > 0)) return `${quoted(ip)} is not an IP address`;
    if (hostname !== undefined && !isHostname(hostname)) return `${quoted(hostname)} is not a host name`;
  }
  return undefined;
}

function isHostname(value: unknown): boolean {
  if (typeof value !== 'string' || value.length > 253) return false;
  return value.split('.').every((label) => /^[a-z0-9*](?:[-a-z0-9]{0,62})$/.test(label) && !label.endsWith('-'));
}

function claimFault({ capacity, accessModes }: Status): string | undefined {
  const amounts = Object.values(fieldsOf(capacity));
  if (!amounts.every(isQuantity)) return 'capacity has a value that is not a quantity';
  if (accessModes === undefined) return undefined;
  const isMode = (mode: unknown): boolean => typeof mode === 'string' && PHASES.test(mode);
  return Array.isArray(accessModes) && accessModes.length <= 8 && accessModes.every(isMode)
    ? undefined
    : 'accessModes are not access modes';
}

function disruptionFault({ disruptedPods }: Status): string | undefined {
  const entries = Object.entries(fieldsOf(disruptedPods));
  if (entries.length > LARGEST_LIST) return `disruptedPods has more than ${LARGEST_LIST} members`;
  return entries.every(([name, time]) => name.length <= 253 && isTime(time))
    ? undefined
    : 'disruptedPods has a time that is none';
}

/** A value in a message, at most 40 characters of it. */
function quoted(value: unknown): string {
  const text = JSON.stringify(value) ?? 'undefined';
  return text.length > 40 ? `${text.slice(0, 39)}…` : text;
}
