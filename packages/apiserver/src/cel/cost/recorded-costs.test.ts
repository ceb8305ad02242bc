import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import type { OpenApiSchema } from '@asterism/machinery';
import { compileProgram } from '../cel-program.ts';
import { createLibrary, NAMED_TYPES } from '../library/kubernetes-library.ts';
import { schemaType } from '../typing/schema-type.ts';
import { estimateCost } from './estimate-cost.ts';
import { schemaSizes } from './schema-size.ts';

/** A rule that was sent to a CRD server of 1.36. */
interface RecordedCost {
  schema: OpenApiSchema;
  /** The schema of a whole object. */
  root?: boolean;
  rule: string;
  /** How many values in a list or a map it can be evaluated for. */
  times?: number;
  /** By how much it exceeds what a rule may cost, as the server said; without one it was accepted. */
  factor?: string;
}

const LIMIT = 10_000_000;
const functions = createLibrary();

describe('costs of rules are estimated as by a kube-apiserver', () => {
  const recorded = readFileSync(new URL('fixtures/recorded-costs.jsonl', import.meta.url), 'utf8').trimEnd();
  for (const line of recorded.split('\n')) {
    const { schema, root = false, rule, times = 1, factor } = JSON.parse(line) as RecordedCost;
    test(`${rule} ${JSON.stringify(schema).slice(0, 100)}`, () => {
      const self = schemaType(schema, root)!;
      const variables = new Map([
        ['self', self],
        ['oldSelf', self],
      ]);
      const { program, fault } = compileProgram(rule, { functions, types: NAMED_TYPES, variables });
      assert.ok(program, fault);
      const estimated = (estimateCost(program.root, program.checked, schemaSizes(schema, root)).max * times) / LIMIT;
      if (factor === undefined) assert.ok(estimated <= 1, `${estimated}`);
      else if (factor === 'more than 100') assert.ok(estimated > 100, `${estimated}`);
      else assert.equal(estimated.toFixed(factor.length - factor.indexOf('.') - 1), factor);
    });
  }
});
