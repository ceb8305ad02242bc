import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { customResourceDefinitions } from '@asterism/fleet/api';

/** The parts of a schema that this test reads. */
interface Schema {
  properties?: Record<string, Schema>;
  items?: Schema;
  enum?: string[];
}

const KINDS = ['PropagationPolicy', 'ClusterPropagationPolicy', 'OverridePolicy', 'ClusterOverridePolicy'];

/** The names and the quoted words in each file, without its comments and imports. */
const FILES = ['test/e2e/place/*.ts', 'test/e2e/deliver/*.ts']
  .flatMap((pattern) => globSync(pattern))
  .map((file) => readFileSync(file, 'utf8').replaceAll(/\/\*\*[^]*?\*\/|^import [^]*?;$|^ *\/\/.*$/gm, ''))
  .map((source) => new Set(source.match(/'?\w+'?/g)));

/** A field, as `spec.placement.clusterAffinity.exclude`, or a word that it takes, as `spec.preemption=Always`. */
interface Field {
  path: string[];
  word?: string;
}

/** A shape that several places share, as cluster affinity, counts once. */
function fieldsOf(schema: Schema, path: string[], shapes = new Set<string>()): Field[] {
  if (schema.properties) {
    const shape = JSON.stringify(schema.properties);
    if (shapes.has(shape)) return [];
    shapes.add(shape);
  }
  const words = (schema.enum ?? []).map((word) => ({ path, word }));
  const items = schema.items ? fieldsOf(schema.items, path, shapes) : [];
  const nested = Object.entries(schema.properties ?? {}).flatMap(([name, property]) => [
    { path: [...path, name] },
    ...fieldsOf(property, [...path, name], shapes),
  ]);
  return [...words, ...items, ...nested];
}

function isUsed(file: ReadonlySet<string>, { path, word }: Field): boolean {
  return path.every((name) => file.has(name)) && (word === undefined || file.has(`'${word}'`));
}

test('the end-to-end tests of place and deliver use every field of the policies, and every word that a field takes', async () => {
  const definitions = (await customResourceDefinitions()).filter(({ spec }) => KINDS.includes(spec.names.kind));
  const shapes = new Set<string>();
  const fields = definitions.flatMap(({ spec }) => {
    const schema = spec.versions[0]?.schema?.openAPIV3Schema as Schema | undefined;
    return fieldsOf(schema?.properties?.['spec'] ?? {}, [], shapes);
  });
  assert.ok(fields.length > 80, `${fields.length} fields`);
  const unused = fields.filter((field) => !FILES.some((file) => isUsed(file, field)));
  assert.deepEqual(
    unused.map(({ path, word }) => [path.join('.'), word]),
    [],
  );
});
