import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { startTestServer, type TestServer } from '@asterism/apiserver/testing';
import { isStatusError, type KubeObject, type OpenApiSchema, type ResourceType } from '@asterism/machinery';
import { parseAllDocuments } from 'yaml';
import { until } from '../../cluster/until.ts';
import { sampleOfSchema } from './sample-of-schema.ts';

const FOLDER = fileURLToPath(new URL('../../../../shared/crds', import.meta.url));
const skip = existsSync(FOLDER) ? false : `no definitions: ${FOLDER} is not there`;

interface Definition extends KubeObject {
  spec: {
    group: string;
    scope: string;
    names: { plural: string; kind: string };
    versions: { name: string; served: boolean; storage: boolean; schema: { openAPIV3Schema: OpenApiSchema } }[];
  };
  status?: { conditions?: { type: string; status: string }[] | null };
}

const DEFINITIONS: ResourceType<Definition> = {
  group: 'apiextensions.k8s.io',
  version: 'v1',
  resource: 'customresourcedefinitions',
  kind: 'CustomResourceDefinition',
  namespaced: false,
};

function readDefinitions(file: string): Definition[] {
  const documents = parseAllDocuments(readFileSync(join(FOLDER, file), 'utf8'));
  return documents
    .map((document) => document.toJS() as Definition | null)
    .filter((object) => object?.kind === DEFINITIONS.kind)
    .filter((object) => object !== null);
}

/** The resource types of the versions that a definition serves. */
function servedTypes({ spec }: Definition): { type: ResourceType; schema: OpenApiSchema }[] {
  return spec.versions
    .filter(({ served }) => served)
    .map(({ name, schema }) => ({
      type: {
        group: spec.group,
        version: name,
        resource: spec.names.plural,
        kind: spec.names.kind,
        namespaced: spec.scope === 'Namespaced',
      },
      schema: schema.openAPIV3Schema,
    }));
}

async function establish({ client }: TestServer, definition: Definition): Promise<void> {
  await client.resource(DEFINITIONS).create(definition);
  const ref = { name: definition.metadata?.name ?? '' };
  await until(client, DEFINITIONS, ref, ({ status }) =>
    ['NamesAccepted', 'Established'].every((type) =>
      status?.conditions?.some((condition) => condition.type === type && condition.status === 'True'),
    ),
  );
}

/** Discovery and OpenAPI know a definition as soon as it is established. */
async function assertPublished({ client }: TestServer, definition: Definition): Promise<void> {
  for (const { type } of servedTypes(definition)) {
    const path = `apis/${type.group}/${type.version}`;
    const { resources } = (await client.getJson(`/${path}`)) as { resources: { name: string }[] };
    assert.ok(resources.some(({ name }) => name === type.resource));
    const { components } = (await client.getJson(`/openapi/v3/${path}`)) as { components: { schemas: object } };
    const kinds = Object.values(components.schemas).flatMap(
      (schema: OpenApiSchema) => schema['x-kubernetes-group-version-kind'] ?? [],
    );
    assert.ok(kinds.some(({ kind, version }) => kind === type.kind && version === type.version));
  }
}

/** Creates a sample with all fields, reads it as every version, and deletes it. */
async function tryInstance({ client }: TestServer, definition: Definition): Promise<void> {
  const types = servedTypes(definition);
  for (const { type, schema } of types) {
    const name = `sample-${type.version}`;
    const ref = { name, namespace: type.namespaced ? 'default' : undefined };
    const { metadata: _, ...sample } = sampleOfSchema(schema) as KubeObject;
    const object = { ...sample, apiVersion: `${type.group}/${type.version}`, kind: type.kind, metadata: ref };
    const created = await client.resource(type).create(object as KubeObject, { fieldValidation: 'Strict' });
    assert.equal(created.metadata?.generation, 1);
    for (const other of types) assert.equal((await client.resource(other.type).get(ref)).kind, type.kind);
    await client.resource(type).delete(ref);
    const gone = await client
      .resource(type)
      .get(ref)
      .catch((error: unknown) => error);
    assert.ok(isStatusError(gone) && gone.code === 404);
  }
}

describe('definitions of other projects', { skip }, () => {
  for (const file of skip === false ? readdirSync(FOLDER).filter((name) => name.endsWith('.yaml')) : []) {
    test(file, async () => {
      const definitions = readDefinitions(file);
      assert.ok(definitions.length > 0, 'there is none in the file');
      await using server = await startTestServer();
      for (const definition of definitions) await establish(server, definition);
      for (const definition of definitions) {
        await assertPublished(server, definition);
        await tryInstance(server, definition);
      }
    });
  }
});
