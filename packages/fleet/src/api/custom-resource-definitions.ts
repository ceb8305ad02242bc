import { readFile } from 'node:fs/promises';
import { type CustomResourceDefinition, parseJson } from '@asterism/machinery';

/** The definitions of every kind of `asterism.dev`, as the generator wrote them; read when they are asked for. */
export async function customResourceDefinitions(): Promise<CustomResourceDefinition[]> {
  const file = new URL('../generated/custom-resource-definitions.json', import.meta.url);
  return parseJson(await readFile(file, 'utf8')) as CustomResourceDefinition[];
}
