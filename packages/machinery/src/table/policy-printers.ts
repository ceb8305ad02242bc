import type {
  MutatingAdmissionPolicy,
  MutatingAdmissionPolicyBinding,
  MutatingWebhookConfiguration,
  ValidatingAdmissionPolicy,
  ValidatingAdmissionPolicyBinding,
  ValidatingWebhookConfiguration,
} from '../generated/admissionregistration-v1.ts';
import type { FlowSchema, PriorityLevelConfiguration } from '../generated/flowcontrol-v1.ts';
import type { ResourceClaim, ResourceSlice } from '../generated/resource-v1.ts';
import type { LabelSelector } from '../generated/meta-v1.ts';
import { findCondition } from '../conditions.ts';
import { NONE, UNSET } from './cell-text.ts';
import { AGE, NAME, type TablePrinter, definePrinter, integer, text } from './table-printer.ts';

export const WEBHOOK_CONFIGURATION_PRINTER: TablePrinter = definePrinter<
  MutatingWebhookConfiguration | ValidatingWebhookConfiguration
>([NAME, integer('Webhooks', ({ webhooks }) => webhooks?.length ?? 0), AGE]);

export const VALIDATING_ADMISSION_POLICY_PRINTER: TablePrinter = definePrinter<ValidatingAdmissionPolicy>([
  NAME,
  integer('Validations', ({ spec }) => spec?.validations?.length ?? 0),
  text('ParamKind', ({ spec }) => paramKind(spec)),
  AGE,
]);

export const MUTATING_ADMISSION_POLICY_PRINTER: TablePrinter = definePrinter<MutatingAdmissionPolicy>([
  NAME,
  integer('Mutations', ({ spec }) => spec?.mutations?.length ?? 0),
  text('ParamKind', ({ spec }) => paramKind(spec)),
  AGE,
]);

export const ADMISSION_POLICY_BINDING_PRINTER: TablePrinter = definePrinter<
  ValidatingAdmissionPolicyBinding | MutatingAdmissionPolicyBinding
>([
  NAME,
  text('PolicyName', ({ spec }) => spec?.policyName ?? ''),
  text('ParamRef', ({ spec }) => {
    const { namespace, name, selector } = spec?.paramRef ?? {};
    // Whether the parameters have namespaces cannot be told from here.
    if (name) return `${namespace || '*'}/${name}`;
    return selector ? goSelectorText(selector) : UNSET;
  }),
  AGE,
]);

const FLOW_SCHEMA = definePrinter<FlowSchema>([
  NAME,
  text('PriorityLevel', ({ spec }) => spec?.priorityLevelConfiguration?.name ?? ''),
  text('MatchingPrecedence', ({ spec }) => spec?.matchingPrecedence ?? 0),
  text('DistinguisherMethod', ({ spec }) => spec?.distinguisherMethod?.type ?? NONE),
  AGE,
  text('MissingPL', ({ status }) => findCondition(status?.conditions, 'Dangling')?.status ?? '?'),
]);

/** In the order in which they are tried. */
export const FLOW_SCHEMA_PRINTER: TablePrinter = {
  ...FLOW_SCHEMA,
  compare: (a: FlowSchema, b: FlowSchema) =>
    (a.spec?.matchingPrecedence ?? 0) - (b.spec?.matchingPrecedence ?? 0) ||
    ((a.metadata?.name ?? '') < (b.metadata?.name ?? '') ? -1 : 1),
};

export const PRIORITY_LEVEL_PRINTER: TablePrinter = definePrinter<PriorityLevelConfiguration>([
  NAME,
  text('Type', ({ spec }) => spec?.type ?? ''),
  text('NominalConcurrencyShares', ({ spec }) => spec?.limited?.nominalConcurrencyShares ?? NONE),
  text('Queues', ({ spec }) => spec?.limited?.limitResponse?.queuing?.queues ?? NONE),
  text('HandSize', ({ spec }) => spec?.limited?.limitResponse?.queuing?.handSize ?? NONE),
  text('QueueLengthLimit', ({ spec }) => spec?.limited?.limitResponse?.queuing?.queueLengthLimit ?? NONE),
  AGE,
]);

export const RESOURCE_CLAIM_PRINTER: TablePrinter = definePrinter<ResourceClaim>([
  NAME,
  text('State', ({ metadata, status }) => {
    const deleted = metadata?.deletionTimestamp ? ['deleted'] : [];
    if (!status?.allocation) return deleted[0] ?? 'pending';
    return [...deleted, 'allocated', ...(status.reservedFor?.length ? ['reserved'] : [])].join(',');
  }),
  AGE,
]);

export const RESOURCE_SLICE_PRINTER: TablePrinter = definePrinter<ResourceSlice>([
  NAME,
  text('Node', ({ spec }) => spec?.nodeName ?? ''),
  text('Driver', ({ spec }) => spec?.driver ?? ''),
  text('Pool', ({ spec }) => spec?.pool?.name ?? ''),
  AGE,
]);

/** Kinds of which only the name and the age are shown. */
export const NAME_AND_AGE_PRINTER: TablePrinter = definePrinter([NAME, AGE]);

/** As Go prints the struct: upstream's cell. */
function goSelectorText({ matchLabels = {}, matchExpressions = [] }: LabelSelector): string {
  const labels = Object.entries(matchLabels)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, value]) => `${key}: ${value},`);
  const expressions = matchExpressions.map(
    ({ key, operator, values = [] }) =>
      `LabelSelectorRequirement{Key:${key},Operator:${operator},Values:[${values.join(' ')}],},`,
  );
  const inner = `MatchLabels:map[string]string{${labels.join('')}},MatchExpressions:[]LabelSelectorRequirement{${expressions.join('')}},`;
  return `&LabelSelector{${inner}}`;
}

function paramKind(spec: { paramKind?: { apiVersion?: string; kind?: string } } | undefined): string {
  return spec?.paramKind ? `${spec.paramKind.apiVersion ?? ''}/${spec.paramKind.kind ?? ''}` : UNSET;
}
