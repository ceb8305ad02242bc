import type { KubeObject, ManagedFieldsEntry } from '@asterism/machinery';
import type { AdmissionAttributes } from './admission-attributes.ts';
import { kindOf } from './kind-of.ts';
import { settleNamespace } from './metadata.ts';
import type { WriteContext, UnstoredSubject } from './registry.ts';
import type { AdmissionPhase, AdmissionRequest, AdmissionStep } from '../contract/admission-step.ts';
import type { Draft } from '../contract/strategy.ts';
import type { ServedVersion } from './served-version.ts';
import type { AdmissionView, Write, WriteRequest } from './write.ts';

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
   * Runs everything that may change the object: the server's own steps, then mutating webhooks. Webhooks of a subresource with a kind
   * of its own see that kind (`view`), and their changes are taken back into the object.
   */
  async mutate(write: Write): Promise<void> {
    let mutated = await this.#run('mutate', write, write.object);
    if (this.#webhooks.mutates && !write.context.internal) mutated = await this.#askMutating(write, mutated);
    if (write.object === undefined || mutated === undefined || mutated === write.object) return;
    write.object = mutated;
    write.isReplaced = true;
  }

  /** Runs the server's checks of the object that its kind prepared. */
  async check(write: Write): Promise<void> {
    await this.#run('check', write, write.object);
  }

  /** Runs the last checks, of a valid object: the server's own steps, then validating webhooks. */
  async admitValid(write: Write): Promise<void> {
    await this.#run('validate', write, write.object);
    if (!this.#webhooks.validates || write.context.internal) return;
    await this.#webhooks.validate(attributesOfWrite(write, write.object));
  }

  /**
   * Asks webhooks about an object that is not stored: a connection, a review, an eviction. Resolves with the object that mutating
   * webhooks leave.
   */
  async admitUnstored({ resource, ref, context }: WriteRequest, subject: UnstoredSubject): Promise<KubeObject> {
    const webhooks = this.#webhooks;
    const { operation, object, kind } = subject;
    if (!webhooks.mutates && !webhooks.validates) return object;
    const about = { object, oldObject: undefined, name: ref.name, namespace: ref.namespace ?? '' };
    const request = attributesOf(operation, resource, about, context);
    if (kind) request.kind = kind;
    if (webhooks.mutates) request.object = await webhooks.mutate(request, async (replayed) => replayed);
    if (webhooks.validates) await webhooks.validate(request);
    return request.object ?? object;
  }

  /** The object that mutating webhooks leave. */
  async #askMutating(write: Write, object: Draft | undefined): Promise<Draft | undefined> {
    const { view = WHOLE } = write;
    const request = attributesOfWrite(write, object);
    let base = object;
    const taken = (shown: KubeObject | undefined): Draft | undefined => {
      if (base === undefined || shown === undefined || shown === request.object) return base;
      base = view.take(base, shown) as Draft;
      return base;
    };
    const changed = await this.#webhooks.mutate(request, async (shown) => {
      base = await this.#run('mutate', write, taken(shown));
      return base && view.show(base);
    });
    return settled(write, object, taken(changed));
  }

  async #run(phase: AdmissionPhase, write: Write, given: Draft | undefined): Promise<Draft | undefined> {
    let object = given;
    for (const steps of [this.#plugins, this.#admission]) {
      for (const step of steps) {
        if ((step.phase ?? 'mutate') !== phase) continue;
        const admitted = await step.admit(requestOf(write, object));
        if (phase === 'mutate') object = admitted as Draft | undefined;
      }
    }
    return object;
  }
}

/** A write as admission steps see it, with the object that the step before left. */
export function requestOf(write: Write, object: Draft | undefined): AdmissionRequest {
  const { operation, resource, namespace, name, old: oldObject } = write;
  const { user, dryRun, warn } = write.strategyContext;
  const { subresource } = write.context;
  return { operation, resource, subresource, namespace, name, object, oldObject, user, dryRun, warn };
}

/** A write as webhooks see it. */
function attributesOfWrite(write: Write, object: Draft | undefined): AdmissionAttributes {
  const { operation, resource, context, old, namespace = '', view = WHOLE } = write;
  const about = {
    object: object && view.show(object),
    oldObject: old && view.show(old),
    name: (object ?? old)?.metadata?.name ?? '',
    namespace,
  };
  return attributesOf(operation, resource, about, context);
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
  { resource, namespace, context: { warn } }: Write,
  before: Draft | undefined,
  after: Draft | undefined,
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
