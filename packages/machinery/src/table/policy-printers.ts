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
    if (name) return namespace ? `${namespace}/${name}` : name;
    return selector ? `${namespace ?? ''}/*` : UNSET;
  }),
  AGE,
]);

export const FLOW_SCHEMA_PRINTER: TablePrinter = definePrinter<FlowSchema>([
  NAME,
  text('PriorityLevel', ({ spec }) => spec?.priorityLevelConfiguration?.name ?? ''),
  text('MatchingPrecedence', ({ spec }) => spec?.matchingPrecedence ?? 0),
  text('DistinguisherMethod', ({ spec }) => spec?.distinguisherMethod?.type ?? NONE),
  AGE,
  text('MissingPL', ({ status }) => findCondition(status?.conditions, 'Dangling')?.status ?? '?'),
]);

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

function paramKind(spec: { paramKind?: { apiVersion?: string; kind?: string } } | undefined): string {
  return spec?.paramKind ? `${spec.paramKind.apiVersion ?? ''}/${spec.paramKind.kind ?? ''}` : UNSET;
}
