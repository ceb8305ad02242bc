import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { isJsonObject } from '../json-object.ts';
import { parseApiVersion } from '../kinds.ts';
import type { KubeObject, ManagedFieldsEntry, Status } from '../object.ts';
import { applyDefaults } from '../schema/apply-defaults.ts';
import { schemaOfKind } from '../schema/builtin-schemas.ts';
import { customResourceSchema } from '../schema/custom-resource-schema.ts';
import type { OpenApiSchema } from '../schema/open-api-schema.ts';
import type { StructuralSchema } from '../schema/structural-schema.ts';
import { StatusError } from '../status.ts';
import { applyObject } from './apply-object.ts';
import type { FieldTracking, ObjectVersion } from './field-updater.ts';
import { updateManagedFields } from './update-managed-fields.ts';

/** Requests to a kube-apiserver 1.36 and what it answered. */
interface Recording {
  name: string;
  /** Of custom resources, by `group/version/Kind`. */
  schemas?: Record<string, OpenApiSchema>;
  steps: Step[];
}

interface Step {
  operation: 'Apply' | 'Update';
  /** The step whose answer was the stored object. */
  live?: number;
  /** The version of the request, where it is not that of the stored object. */
  version?: string;
  /** Of an apply. */
  sent?: KubeObject;
  /** The managedFields that an update carried. */
  given?: ManagedFieldsEntry[];
  manager: string;
  force?: boolean;
  subresource?: string;
  resetFields?: string[][];
  answer: KubeObject | Status;
}

const recordings = readFileSync(new URL('fixtures/recorded-applies.jsonl', import.meta.url), 'utf8')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line) as Recording);

describe('applies and updates, against what a kube-apiserver made of them', () => {
  for (const recording of recordings) {
    describe(recording.name, () => {
      const schemaOf = schemasOf(recording);
      const answerOf = (step: number | undefined) => (step === undefined ? undefined : recording.steps[step]?.answer);
      for (const [i, step] of recording.steps.entries()) {
        const { operation, manager, force, sent } = step;
        test(`${i}: ${operation} by ${manager}${force ? ', forced' : ''}`, () => {
          const live = answerOf(step.live) as KubeObject | undefined;
          if (sent) checkApply(sent, live, step, schemaOf);
          else checkUpdate(live, step, schemaOf);
        });
      }
    });
  }
});

type SchemaOf = (apiVersion: string, kind: string) => StructuralSchema | undefined;

function schemasOf({ schemas = {} }: Recording): SchemaOf {
  const compiled = new Map(Object.entries(schemas).map(([name, schema]) => [name, customResourceSchema(schema)]));
  return (apiVersion, kind) =>
    schemaOfKind({ ...parseApiVersion(apiVersion), kind }) ?? compiled.get(`${apiVersion}/${kind}`);
}

function trackingOf(step: Step, { apiVersion = '', kind = '' }: KubeObject, schemaOf: SchemaOf): FieldTracking {
  return {
    manager: step.manager,
    time: '2030-01-01T00:00:00Z',
    schema: schemaOf(apiVersion, kind)!,
    ...(step.subresource === undefined ? {} : { subresource: step.subresource }),
    resetFields: step.resetFields ?? [],
    versions(version): ObjectVersion | undefined {
      const schema = schemaOf(version, kind);
      return schema && { schema, convert: (object) => ({ ...object, apiVersion: version }) };
    },
  };
}

function checkApply(sent: KubeObject, stored: KubeObject | undefined, step: Step, schemaOf: SchemaOf): void {
  const live = stored && step.version ? { ...stored, apiVersion: step.version } : stored;
  const options = { ...trackingOf(step, sent, schemaOf), live, applied: sent, force: step.force === true };
  if (step.answer.kind === 'Status') {
    assert.deepEqual(refusalOf(options), step.answer);
    return;
  }
  const outcome = applyObject(options);
  assert.ok(outcome.outcome === 'applied', 'a conflict');
  const { object } = outcome;
  assert.deepEqual(withoutTimes(object), withoutTimes(step.answer as KubeObject));
  const { managedFields: _, ...metadata } = object.metadata ?? {};
  const defaulted = structuredClone({ ...object, metadata });
  applyDefaults(defaulted, options.schema);
  // What the endpoint resets is as the server had it.
  const tracked = Object.entries(defaulted).filter(([key]) => !step.resetFields?.some(([first]) => first === key));
  assertPart(Object.fromEntries(tracked), step.answer, '');
}

function refusalOf(options: Parameters<typeof applyObject>[0]): Status | undefined {
  try {
    const outcome = applyObject(options);
    return outcome.outcome === 'conflict' ? outcome.error.status : undefined;
  } catch (error) {
    if (!(error instanceof StatusError)) throw error;
    return error.status;
  }
}

function checkUpdate(before: KubeObject | undefined, step: Step, schemaOf: SchemaOf): void {
  const answer = step.answer as KubeObject;
  const { managedFields: _, ...metadata } = answer.metadata ?? {};
  const after = { ...answer, metadata: step.given ? { ...metadata, managedFields: step.given } : metadata };
  const managedFields = updateManagedFields({ ...trackingOf(step, answer, schemaOf), before, after });
  const result: KubeObject = { metadata: managedFields ? { managedFields } : {} };
  assert.deepEqual(withoutTimes(result), withoutTimes(answer));
}

function ownerId({ manager, operation, apiVersion, subresource }: ManagedFieldsEntry): string {
  return [manager, operation, apiVersion, subresource].join();
}

/** The entries, by who they are of; their times are those of the recording. */
function withoutTimes(object: KubeObject): Record<string, unknown>[] {
  const entries = object.metadata?.managedFields ?? [];
  return entries
    .map((entry) => ({ ...entry, time: undefined }))
    .sort((a, b) => (ownerId(a) < ownerId(b) ? -1 : 1))
    .map((entry) => JSON.parse(JSON.stringify(entry)) as Record<string, unknown>);
}

const SET_BY_SERVER = new Set(['.metadata.resourceVersion', '.metadata.generation', '.metadata.uid']);

/** All of `part` is in `whole`: of the defaults of built-in kinds only some are in their schemas. */
function assertPart(part: unknown, whole: unknown, path: string): void {
  if (SET_BY_SERVER.has(path)) return;
  if (Array.isArray(part)) {
    assert.equal(part.length, (whole as unknown[] | undefined)?.length, `length of ${path}`);
    for (const [i, item] of part.entries()) assertPart(item, (whole as unknown[])[i], `${path}[${i}]`);
  } else if (isJsonObject(part)) {
    if (whole === undefined) assert.deepEqual(part, {}, path);
    for (const [key, value] of Object.entries(part)) {
      assertPart(value, (whole as Record<string, unknown> | undefined)?.[key], `${path}.${key}`);
    }
  } else if (part !== null || whole !== undefined) {
    assert.equal(part, whole, path);
  }
}
