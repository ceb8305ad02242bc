import { deepEqual, isJsonObject } from '@asterism/machinery';
import type { Answer } from '../../conformance/send-request.ts';
import type { Fields } from '../objects/generated-kind.ts';
import type { Decision } from './decision.ts';

/** What of an answer must be the same. */
export interface DecisionOutcome {
  status: number;
  reason: string;
  /** Of a refusal: the check that refused. */
  by: string;
  /** As the decision compares it. */
  shown: unknown;
  message: string;
}

/** Names of worlds, as the servers' own objects are not the same. */
const OF_WORLD = /^(one|two|three|light|heavy|marker|sa\d|.*-\d+)$/;

export function outcomeOf(decision: Decision, answer: Answer): DecisionOutcome {
  const { status } = answer;
  const body = isJsonObject(answer.body) ? answer.body : {};
  const said = (body['kind'] === 'Status' ? body : {}) as { message?: string; reason?: string };
  const { message = '' } = said;
  const succeeded = status < 300;
  const reason = succeeded ? '' : (said.reason ?? '');
  const by = status === 403 ? refusedBy(message) : '';
  if (decision.compares === 'forbidden') {
    return { status: status === 403 ? 403 : 0, reason: '', by, shown: undefined, message: `${status} ${message}` };
  }
  const shown = !succeeded
    ? undefined
    : decision.compares === 'names'
      ? namesIn(answer)
      : decision.compares === 'rights'
        ? rightsIn(body)
        : undefined;
  return { status, reason, by, shown, message };
}

export function sameOutcome(a: DecisionOutcome, b: DecisionOutcome): boolean {
  const { message: _, ...one } = a;
  const { message: __, ...other } = b;
  return deepEqual(one, other);
}

function refusedBy(message: string): string {
  if (message === '') return '';
  if (/ cannot \S* ?(resource|path) /.test(message)) return 'authorization';
  if (/not currently held|must have cluster-admin/.test(message)) return 'escalation';
  return /not permitted to (approve|sign)/.test(message) ? 'signer' : 'admission';
}

/** Of one object, a list, or the events of a watch. */
function namesIn({ body, bodyText }: Answer): string[] {
  const objects = isJsonObject(body)
    ? Array.isArray(body['items'])
      ? (body['items'] as unknown[])
      : [body['object'] ?? body]
    : (bodyText ?? '')
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => (JSON.parse(line) as Fields)['object']);
  const names = objects.map((object) => {
    const { name = '', namespace = '' } = ((object as Fields)['metadata'] ?? {}) as {
      name?: string;
      namespace?: string;
    };
    return { name, key: `${namespace}/${name}` };
  });
  return names
    .filter(({ name }) => OF_WORLD.test(name))
    .map(({ key }) => key)
    .sort();
}

function rightsIn(body: Fields): unknown {
  switch (body['kind']) {
    case 'CertificateSigningRequest':
      return { ...carried(body), ...signingPart(body) };
    case 'SelfSubjectRulesReview':
      return rulesIn((body['status'] ?? {}) as Fields);
    case 'SelfSubjectAccessReview':
    case 'SubjectAccessReview':
    case 'LocalSubjectAccessReview':
      return ((body['status'] ?? {}) as Fields)['allowed'];
    default:
      return {
        ...carried(body),
        rules: body['rules'] ?? [],
        aggregationRule: body['aggregationRule'] ?? null,
        roleRef: body['roleRef'],
        subjects: body['subjects'] ?? [],
      };
  }
}

function carried({ metadata }: Fields): Fields {
  const { labels = {}, finalizers = [], ownerReferences = [] } = (metadata ?? {}) as Fields;
  return { labels: ownLabels(labels as Fields), finalizers, ownerReferences };
}

function ownLabels(labels: Fields): Fields {
  return Object.fromEntries(Object.entries(labels).filter(([key]) => key !== 'kubernetes.io/metadata.name'));
}

function signingPart({ spec = {}, status = {} }: Fields): Fields {
  const { signerName, username, groups, usages } = spec as Fields;
  const { certificate, conditions = [] } = status as { certificate?: string; conditions?: Fields[] };
  const decided = conditions.map(({ type, status: value, reason, message }) => ({ type, value, reason, message }));
  return { signerName, username, groups, usages, certificate, decided };
}

/** Without the rules that every user has by the servers' default roles. */
function rulesIn({ resourceRules = [], nonResourceRules = [], incomplete }: Fields): unknown {
  const isDefault = /authorization\.k8s\.io|authentication\.k8s\.io|healthz|livez|openapi/;
  const texts = (rules: unknown): string[] => {
    const all = (rules as unknown[]).map((each) => JSON.stringify(each, Object.keys(each as Fields).sort()));
    return [...new Set(all)].filter((text) => !isDefault.test(text) || /rbac/.test(text)).sort();
  };
  return { resources: texts(resourceRules), urls: texts(nonResourceRules), incomplete };
}
