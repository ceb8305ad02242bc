import {
  type FieldError,
  fieldNotSupported,
  fieldRequired,
  type KubeObject,
  seenBefore,
  validateDns1035Label,
} from '@asterism/machinery';
import { type Fields, listAt, numberAt, optionalFields, textAt, textsAt } from '../fields/draft-fields.ts';
import { validateQualifiedDomain } from '../validation/name-formats.ts';
import { MATCH_POLICIES, validateRule } from '../admission-rule/validate-admission-rule.ts';
import { labelSelectorFaults } from '../validation/validate-label-selector.ts';
import { validateMatchConditions } from '../admission-rule/validate-match-conditions.ts';
import { conditionFaults } from './condition-rules.ts';
import { validateWebhookService, validateWebhookUrl } from './validate-webhook-client.ts';
import { duplicateValue, invalidValue } from '../../registry/invalid-value.ts';

export const REVIEW_VERSIONS = ['v1', 'v1beta1'];
export const SIDE_EFFECTS = ['None', 'NoneOnDryRun'];
const ANY_SIDE_EFFECTS = ['None', 'NoneOnDryRun', 'Some', 'Unknown'];
export const FAILURE_POLICIES = ['Fail', 'Ignore'];
const REINVOCATION_POLICIES = ['IfNeeded', 'Never'];

/** What an update may keep because an older server let it in. */
interface Leniency {
  sideEffects: boolean;
  reviewVersions: boolean;
  sameNames: boolean;
}

export function validateWebhooks(object: KubeObject, leniency: Leniency): FieldError[] {
  const names = new Set<string>();
  return listAt(object, 'webhooks').flatMap((webhook, index) => {
    const at = `webhooks[${index}]`;
    const name = textAt(webhook, 'name');
    const faults = [
      ...validateWebhook(webhook, at, leniency),
      ...validateVersions(textsAt(webhook, 'admissionReviewVersions'), `${at}.admissionReviewVersions`, leniency),
    ];
    if (!leniency.sameNames && names.has(name) && name !== '') faults.push(duplicateValue(`${at}.name`, name));
    names.add(name);
    return faults;
  });
}

function validateWebhook(webhook: Fields, at: string, leniency: Leniency): FieldError[] {
  const faults = validateQualifiedDomain(textAt(webhook, 'name'), `${at}.name`);
  faults.push(...listAt(webhook, 'rules').flatMap((rule, index) => validateRule(rule, `${at}.rules[${index}]`)));
  faults.push(...validateChoice(webhook, 'failurePolicy', FAILURE_POLICIES, at));
  faults.push(...validateChoice(webhook, 'matchPolicy', MATCH_POLICIES, at));
  const effects = leniency.sideEffects ? ANY_SIDE_EFFECTS : SIDE_EFFECTS;
  if (webhook.sideEffects === undefined)
    faults.push(fieldRequired(`${at}.sideEffects`, `must specify one of ${effects.join(', ')}`));
  faults.push(...validateChoice(webhook, 'sideEffects', effects, at));
  const seconds = numberAt(webhook, 'timeoutSeconds');
  if (seconds !== undefined && (seconds > 30 || seconds < 1)) {
    const detail = 'the timeout value must be between 1 and 30 seconds';
    faults.push(invalidValue(`${at}.timeoutSeconds`, seconds, detail));
  }
  for (const key of ['namespaceSelector', 'objectSelector'])
    faults.push(...labelSelectorFaults(optionalFields(webhook, key), `${at}.${key}`));
  faults.push(...validateChoice(webhook, 'reinvocationPolicy', REINVOCATION_POLICIES, at));
  faults.push(...validateClient(optionalFields(webhook, 'clientConfig') ?? {}, `${at}.clientConfig`));
  const conditions = listAt(webhook, 'matchConditions');
  return [...faults, ...validateMatchConditions(conditions, `${at}.matchConditions`, conditionFaults)];
}

function validateChoice(webhook: Fields, key: string, values: readonly string[], at: string): FieldError[] {
  const value = webhook[key];
  return typeof value !== 'string' || values.includes(value) ? [] : [fieldNotSupported(`${at}.${key}`, value, values)];
}

function validateClient(client: Fields, at: string): FieldError[] {
  const service = optionalFields(client, 'service');
  const { url } = client;
  if ((typeof url === 'string') === (service !== undefined))
    return [fieldRequired(at, 'exactly one of url or service is required')];
  if (typeof url === 'string') return validateWebhookUrl(url, `${at}.url`);
  return validateWebhookService(service ?? {}, `${at}.service`);
}

function validateVersions(versions: readonly string[], at: string, { reviewVersions }: Leniency): FieldError[] {
  if (versions.length === 0) return [fieldRequired(at, `must specify one of ${REVIEW_VERSIONS.join(', ')}`)];
  const isRepeated = seenBefore<string>();
  const faults = versions.flatMap((version, index) =>
    isRepeated(version)
      ? [invalidValue(`${at}[${index}]`, version, 'duplicate version')]
      : validateDns1035Label(version).map((fault) => invalidValue(`${at}[${index}]`, version, fault)),
  );
  if (reviewVersions || versions.some((version) => REVIEW_VERSIONS.includes(version))) return faults;
  return [...faults, invalidValue(at, versions, `must include at least one of ${REVIEW_VERSIONS.join(', ')}`)];
}
