import type { GroupVersionKind, KubeObject, ManagedFieldsEntry } from '@asterism/machinery';
import type { AdmissionAttributes } from './admission-attributes.ts';
import { kindOf } from './kind-of.ts';
import { settleNamespace } from './metadata.ts';
import type { WriteContext } from './registry.ts';
import type { ServedVersion } from './served-version.ts';
import type { AdmissionPhase, AdmissionRequest, AdmissionStep } from '../contract/admission-step.ts';
import type { Draft } from '../contract/strategy.ts';

export type WriteOperation = AdmissionRequest['operation'];

/** What a write is about. */
export interface AdmissionSubject {
  object: Draft | undefined;
  old: KubeObject | undefined;
  name: string;
  namespace: string | undefined;
  /** How a subresource of a kind of its own is seen. */
  view?: AdmissionView | undefined;
}

/** An object as one of another kind, and back. */
export interface AdmissionView {
  show(object: KubeObject): KubeObject;
  take(object: KubeObject, shown: KubeObject): KubeObject;
}

const WHOLE: AdmissionView = { show: (object) => object, take: (_, shown) => shown };

export interface AdmissionPipelineOptions {
  /** Asked first. */
  plugins: readonly AdmissionStep[];
  /** Asked after them in order; more may be added later. */
  admission: readonly AdmissionStep[];
  webhooks: AdmissionCalls;
}

/** Admission webhooks, as the pipeline asks them. */
export interface AdmissionCalls {
  /** Whether there is a webhook that may change an object. */
  readonly mutates: boolean;
  /** Whether there is a webhook that may refuse one. */
  readonly validates: boolean;
  /** Resolves with the object that they have made of it. `replay` runs the server's own steps again on what one has changed. */
  mutate(
    request: AdmissionAttributes,
    replay: (object: KubeObject | undefined) => Promise<KubeObject | undefined>,
  ): Promise<KubeObject | undefined>;
  /** Rejects if one refuses. */
  validate(request: AdmissionAttributes): Promise<void>;
}

/** What stands between a write that may be made and its storage: steps of the server itself, and webhooks. */
export class AdmissionPipeline {
  readonly #plugins: readonly AdmissionStep[];
  readonly #admission: readonly AdmissionStep[];
  readonly #webhooks: AdmissionCalls;

  constructor({ plugins, admission, webhooks }: AdmissionPipelineOptions) {
    this.#plugins = plugins;
    this.#admission = admission;
    this.#webhooks = webhooks;
  }

  /**
   * The object after all that may change it: what the server itself admits, then mutating webhooks. With an object of the request's
   * own kind (`view`) the webhooks see that, and what they make of it is taken back.
   */
  async mutate(
    operation: WriteOperation,
    resource: ServedVersion,
    subject: AdmissionSubject,
    context: WriteContext,
  ): Promise<Draft | undefined> {
    const object = await this.#run('mutate', operation, resource, subject, context);
    const webhooks = this.#webhooks;
    if (!webhooks.mutates || context.internal) return object;
    const view = subject.view ?? WHOLE;
    const request = this.#attributesOf(operation, resource, { ...subject, object }, context);
    let base = object;
    const taken = (shown: KubeObject | undefined): Draft | undefined => {
      if (base === undefined || shown === undefined || shown === request.object) return base;
      base = view.take(base, shown) as Draft;
      return base;
    };
    const changed = await webhooks.mutate(request, async (shown) => {
      base = await this.#run('mutate', operation, resource, { ...subject, object: taken(shown) }, context);
      return base && view.show(base);
    });
    return settled(resource, object, taken(changed), { ...context, namespace: subject.namespace });
  }

  /** What is about to be stored, as its kind has prepared it: is it allowed? */
  async check(
    operation: WriteOperation,
    resource: ServedVersion,
    subject: AdmissionSubject,
    context: WriteContext,
  ): Promise<void> {
    await this.#run('check', operation, resource, subject, context);
  }

  /** The last questions before it is stored, after the kind's own: quota, and validating webhooks. */
  async admitValid(
    operation: WriteOperation,
    resource: ServedVersion,
    subject: AdmissionSubject,
    context: WriteContext,
  ): Promise<void> {
    await this.#run('validate', operation, resource, subject, context);
    if (!this.#webhooks.validates || context.internal) return;
    await this.#webhooks.validate(this.#attributesOf(operation, resource, subject, context));
  }

  async #run(
    phase: AdmissionPhase,
    operation: WriteOperation,
    resource: ServedVersion,
    subject: AdmissionSubject,
    context: WriteContext,
  ): Promise<Draft | undefined> {
    let { object } = subject;
    for (const steps of [this.#plugins, this.#admission]) {
      for (const step of steps) {
        if ((step.phase ?? 'mutate') !== phase) continue;
        const admitted = await step.admit(requestOf(operation, resource, { ...subject, object }, context));
        if (phase === 'mutate') object = admitted as Draft | undefined;
      }
    }
    return object;
  }

  /**
   * What is neither an object nor stored: a connection, a review, an eviction. Resolves with what mutating webhooks have made of it.
   */
  async admitUnstored(
    operation: 'CREATE' | 'CONNECT',
    resource: ServedVersion,
    subject: { object: KubeObject; name: string; namespace: string | undefined; kind?: GroupVersionKind },
    context: WriteContext,
  ): Promise<KubeObject> {
    const webhooks = this.#webhooks;
    if (!webhooks.mutates && !webhooks.validates) return subject.object;
    const { namespace = '', kind } = subject;
    const about = { ...subject, namespace, oldObject: undefined };
    const request = attributesOf(operation, resource, about, context);
    if (kind) request.kind = kind;
    if (webhooks.mutates) request.object = await webhooks.mutate(request, async (object) => object);
    if (webhooks.validates) await webhooks.validate(request);
    return request.object ?? subject.object;
  }

  #attributesOf(
    operation: WriteOperation,
    resource: ServedVersion,
    { object, old, namespace = '', view = WHOLE }: AdmissionSubject,
    context: WriteContext,
  ): AdmissionAttributes {
    return attributesOf(
      operation,
      resource,
      {
        object: object && view.show(object),
        oldObject: old && view.show(old),
        name: context.name ?? (object ?? old)?.metadata?.name ?? '',
        namespace,
      },
      context,
    );
  }
}

export function requestOf(
  operation: WriteOperation,
  resource: ServedVersion,
  { object, old, name, namespace }: AdmissionSubject,
  { subresource, user, dryRun = false, warn }: WriteContext,
): AdmissionRequest {
  const tell = (text: string): void => warn?.(text);
  return { operation, resource, subresource, namespace, name, object, oldObject: old, user, dryRun, warn: tell };
}

/** Of a write that the server makes by itself. */
const OWN_OPTIONS: Readonly<Record<AdmissionAttributes['operation'], KubeObject | undefined>> = {
  CREATE: { kind: 'CreateOptions', apiVersion: 'meta.k8s.io/v1' },
  UPDATE: { kind: 'UpdateOptions', apiVersion: 'meta.k8s.io/v1' },
  DELETE: { kind: 'DeleteOptions', apiVersion: 'meta.k8s.io/v1' },
  CONNECT: undefined,
};

function attributesOf(
  operation: AdmissionAttributes['operation'],
  resource: ServedVersion,
  { name, namespace, object, oldObject }: Pick<AdmissionAttributes, 'name' | 'namespace' | 'object' | 'oldObject'>,
  context: WriteContext,
): AdmissionAttributes {
  const { subresource = '', user, dryRun = false, signal } = context;
  return {
    operation,
    resource,
    subresource,
    kind: kindOf(resource, subresource),
    name,
    namespace: resource.groupResource === 'namespaces' ? name : namespace,
    object,
    oldObject,
    user,
    dryRun,
    options: context.options?.(operation) ?? OWN_OPTIONS[operation],
    warn: (text) => context.warn?.(text),
    annotate: (key, value) => context.annotate?.(key, value),
    signal,
  };
}

/**
 * What webhooks have made of an object stays what the request is about: its namespace must be that of the request, and fields
 * whose owners make no sense are owned as before, with a warning.
 */
function settled(
  resource: ServedVersion,
  before: Draft | undefined,
  after: Draft | undefined,
  { namespace, warn }: Pick<WriteContext, 'namespace' | 'warn'>,
): Draft | undefined {
  if (before === undefined || after === undefined || before === after) return after;
  settleNamespace(resource, after, namespace);
  const fault = faultOfOwners(after.metadata.managedFields);
  if (fault === undefined) return after;
  const { managedFields } = before.metadata;
  if (managedFields) after.metadata.managedFields = managedFields;
  else delete after.metadata.managedFields;
  warn?.(
    `.metadata.managedFields was in an invalid state after admission; this could be caused by an outdated mutating admission controller; please fix your requests: ${fault}`,
  );
  return after;
}

function faultOfOwners(entries: readonly ManagedFieldsEntry[] = []): string | undefined {
  for (const { operation, fieldsType, fieldsV1 } of entries) {
    if (operation !== 'Apply' && operation !== 'Update') return `invalid operation: ${JSON.stringify(operation ?? '')}`;
    if (fieldsType !== 'FieldsV1') return `unsupported fieldsType: ${JSON.stringify(fieldsType ?? '')}`;
    if (typeof fieldsV1 !== 'object' || fieldsV1 === null) return 'fieldsV1 is no object';
  }
  return undefined;
}
