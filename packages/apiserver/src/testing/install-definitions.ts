import { readFile } from 'node:fs/promises';
import type { Client } from '@asterism/client';
import { CUSTOM_RESOURCE_DEFINITIONS, type KubeObject, type ResourceType } from '@asterism/machinery';

/**
 * A CustomResourceDefinition, the text of some in YAML or JSON, or a file of that.
 *
 * @example {@link startTestServer}
 */
export type DefinitionSource = KubeObject | string | URL;

/** How long the server may take to serve a definition. */
const ESTABLISH_MS = 5_000;

const DEFINITIONS: ResourceType = CUSTOM_RESOURCE_DEFINITIONS;

/**
 * Creates CustomResourceDefinitions, and resolves when all are served. Rejects with the server's `StatusError` where one is not
 * valid, and with an error that says why where its names are taken or the source holds something else.
 */
export async function installDefinitions(admin: Client, sources: readonly DefinitionSource[]): Promise<void> {
  const read = await Promise.all(sources.map((source) => readDefinitions(source)));
  await Promise.all(read.flat().map((definition) => install(admin, definition)));
}

async function readDefinitions(source: DefinitionSource): Promise<KubeObject[]> {
  if (typeof source === 'object' && !(source instanceof URL)) return [checked(source, 'an object of `crds`')];
  const where = source instanceof URL ? source.href : 'a text of `crds`';
  const { parseAllDocuments } = await import('yaml');
  const text = source instanceof URL ? await readFile(source, 'utf8') : source;
  const definitions: KubeObject[] = [];
  for (const document of parseAllDocuments(text)) {
    const [fault] = document.errors;
    if (fault) throw new TypeError(`${where}: ${fault.message}`);
    const value: unknown = document.toJS();
    if (value !== null) definitions.push(checked(value, where));
  }
  if (definitions.length === 0) throw new TypeError(`${where} holds no CustomResourceDefinition`);
  return definitions;
}

function checked(value: unknown, where: string): KubeObject {
  const { kind } = (value ?? {}) as Partial<KubeObject>;
  if (kind === 'CustomResourceDefinition') return value as KubeObject;
  throw new TypeError(`${where} is to be a CustomResourceDefinition, not ${kind ?? JSON.stringify(value)}`);
}

async function install(admin: Client, definition: KubeObject): Promise<void> {
  const definitions = admin.resource(DEFINITIONS);
  const { metadata } = await definitions.create(definition);
  const changes = definitions.watch({
    resourceVersion: metadata?.resourceVersion,
    fieldSelector: `metadata.name=${metadata?.name}`,
    signal: AbortSignal.timeout(ESTABLISH_MS),
  });
  for await (const event of changes) {
    if (event.type === 'ERROR') break;
    const refused =
      conditionOf(event.object, 'NamesAccepted', 'False') ?? conditionOf(event.object, 'Established', 'False');
    if (refused) throw new Error(`${metadata?.name} is not served: ${refused.message}`);
    if (conditionOf(event.object, 'Established', 'True')) return;
  }
  throw new Error(`${metadata?.name} was not served`);
}

function conditionOf({ status }: KubeObject, type: string, wanted: string): { message?: string } | undefined {
  const { conditions = [] } = (status ?? {}) as { conditions?: { type: string; status: string; message?: string }[] };
  return conditions.find((condition) => condition.type === type && condition.status === wanted);
}
