import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Client } from '@asterism/client';
import { isNotFound, type KubeObject, type ResourceType } from '@asterism/machinery';
import { CommandError, EXIT } from './exit-code.ts';

/**
 * The objects of files (`-` is stdin, a folder is its .yaml, .yml and .json files by name), in order, `List`s unfolded. All is
 * read before anything is done, so that a fault in the last file leaves nothing half applied.
 */
export async function readManifests(paths: readonly string[]): Promise<KubeObject[]> {
  const { parseAllDocuments } = await import('yaml');
  const objects: KubeObject[] = [];
  for (const { path, text } of await readAll(paths)) {
    for (const [index, document] of parseAllDocuments(text).entries()) {
      const where = `${path}, document ${index + 1}`;
      const [fault] = document.errors;
      if (fault) throw new CommandError(`${where}: ${fault.message}`, EXIT.usage);
      const value: unknown = document.toJS();
      if (value !== null && value !== undefined) objects.push(...unfold(value, where));
    }
  }
  if (objects.length === 0) throw new CommandError(`no objects in ${paths.join(', ')}`, EXIT.usage);
  return objects;
}

function unfold(value: unknown, where: string): KubeObject[] {
  const object = value as KubeObject;
  if (typeof value !== 'object' || typeof object.apiVersion !== 'string' || typeof object.kind !== 'string') {
    throw new CommandError(`${where}: not a Kubernetes object: apiVersion and kind are missing`, EXIT.usage);
  }
  const items = object['items'];
  if (object.kind.endsWith('List') && Array.isArray(items)) return items.flatMap((item) => unfold(item, where));
  if (!object.metadata?.name) {
    throw new CommandError(`${where}: ${object.kind} has no metadata.name`, EXIT.usage);
  }
  return [object];
}

async function readAll(paths: readonly string[]): Promise<{ path: string; text: string }[]> {
  const files: { path: string; text: string }[] = [];
  for (const path of paths) {
    if (path === '-') {
      files.push({ path: 'stdin', text: await readStdin() });
      continue;
    }
    const found = await stat(path).catch(() => undefined);
    if (found === undefined) throw new CommandError(`${path}: no such file or folder`, EXIT.usage);
    const names = found.isDirectory()
      ? (await readdir(path))
          .filter((name) => /\.(ya?ml|json)$/.test(name))
          .sort()
          .map((name) => join(path, name))
      : [path];
    for (const name of names) files.push({ path: name, text: await readFile(name, 'utf8') });
  }
  return files;
}

/** All of it, as text. */
export async function readStdin(): Promise<string> {
  const pieces: Buffer[] = [];
  for await (const piece of process.stdin) pieces.push(piece as Buffer);
  return Buffer.concat(pieces).toString('utf8');
}

/** The object in that namespace, where it names none and is of a kind that has one. */
export function inNamespace(object: KubeObject, type: ResourceType, namespace: string): KubeObject {
  if (!type.namespaced || object.metadata?.namespace !== undefined) return object;
  return { ...object, metadata: { ...object.metadata, namespace } };
}

/** What stands there under the name of the object. */
export async function currentObject(
  client: Client,
  type: ResourceType,
  { metadata }: KubeObject,
): Promise<KubeObject | undefined> {
  try {
    return await client.resource(type).get({ namespace: metadata?.namespace, name: metadata?.name ?? '' });
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}
