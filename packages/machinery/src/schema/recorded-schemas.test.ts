import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import type { StatusCause } from '../object.ts';
import { invalid } from '../status.ts';
import { applyDefaults } from './apply-defaults.ts';
import { checkStructural } from './check-structural.ts';
import { customResourceSchema } from './custom-resource-schema.ts';
import type { OpenApiSchema } from './open-api-schema.ts';
import { findUnknownFields, pruneUnknown } from './unknown-fields.ts';
import { validateSchema } from './validate-schema.ts';

/** Custom resources that were sent to a kube-apiserver 1.36, without metadata. */
interface RecordedResources {
  name: string;
  schema: OpenApiSchema;
  objects: {
    sent: object;
    /** What it stored, where it did. */
    stored?: object;
    /** The fields of which it warned; nothing is known where `quiet`. */
    unknown?: string[];
    quiet?: boolean;
    /** Why it did not. */
    causes?: StatusCause[];
  }[];
}

/** A schema that a kube-apiserver 1.36 refused. */
interface RecordedRefusal {
  name: string;
  schema: OpenApiSchema;
  statusSubresource?: boolean;
  causes: StatusCause[];
}

describe('custom resources are pruned, defaulted and validated as by a kube-apiserver', () => {
  for (const { name, schema, objects } of read<RecordedResources>('recorded-custom-resources.jsonl')) {
    describe(name, () => {
      const compiled = customResourceSchema(schema);
      test('the schema is structural', () => assert.deepEqual(checkStructural(schema), []));
      for (const { sent, stored, unknown = [], quiet, causes } of objects) {
        test(`${causes ? 'refused' : 'stored'}: ${JSON.stringify(sent).replace(/^.*?"Widget",?/, '{')}`, () => {
          const object = structuredClone(sent);
          if (!quiet && stored) assert.deepEqual(findUnknownFields(object, compiled), unknown);
          const removed = pruneUnknown(object, compiled);
          if (!quiet && stored) assert.deepEqual(removed, unknown);
          applyDefaults(object, compiled);
          const errors = validateSchema(object, compiled);
          if (stored) assert.deepEqual({ object, errors }, { object: stored, errors: [] });
          else assert.deepEqual(invalid({ group: 'g', kind: 'Widget' }, 'w', errors).status.details?.causes, causes);
        });
      }
    });
  }
});

describe('schemas are refused in the words of a kube-apiserver', () => {
  for (const { name, schema, statusSubresource = false, causes } of read<RecordedRefusal>('recorded-schemas.jsonl')) {
    test(name, () => {
      const errors = checkStructural(schema, { statusSubresource });
      assert.deepEqual(
        errors.map(({ type, message, field }) => ({ reason: type, message, field })),
        causes,
      );
    });
  }
});

function read<T>(file: string): T[] {
  const text = readFileSync(new URL(`fixtures/${file}`, import.meta.url), 'utf8');
  return text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as T);
}
