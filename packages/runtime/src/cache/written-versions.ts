import type { Client, ResourceClient } from '@asterism/client';
import { type KubeObject, objectKey, type ResourceType } from '@asterism/machinery';

/** A write that the cache may not have seen yet. */
export interface WrittenVersion {
  type: ResourceType;
  key: string;
  resourceVersion: string;
  labels: Record<string, string> | undefined;
}

/**
 * The same client, which tells of every resourceVersion that its writes returned. Deletions are told too: an object that
 * still goes has a version, one that is gone comes back as a Status and has none.
 */
export function recordingClient(client: Client, written: (version: WrittenVersion) => void): Client {
  return {
    transport: client.transport,
    discovery: client.discovery,
    readBudget: client.readBudget,
    resource: (type) => recording(client.resource(type), written),
    getJson: (path, options) => client.getJson(path, options),
    request: (request) => client.request(request),
    upgrade: (request) => client.upgrade(request),
    version: (options) => client.version(options),
    impersonating: (user) => recordingClient(client.impersonating(user), written),
    through: (wrap) => recordingClient(client.through(wrap), written),
  };
}

function recording<T extends KubeObject>(
  client: ResourceClient<T>,
  written: (version: WrittenVersion) => void,
): ResourceClient<T> {
  const note = <R extends KubeObject>(result: R): R => {
    const { name, resourceVersion, labels } = result.metadata ?? {};
    if (name && resourceVersion) written({ type: client.type, key: objectKey(result), resourceVersion, labels });
    return result;
  };
  return {
    type: client.type,
    listLimits: client.listLimits,
    get: (ref, options) => client.get(ref, options),
    list: (options) => client.list(options),
    pages: (options) => client.pages(options),
    watch: (options) => client.watch(options),
    deleteCollection: (options) => client.deleteCollection(options),
    create: async (object, options) => note(await client.create(object, options)),
    update: async (object, options) => note(await client.update(object, options)),
    patch: async (ref, patch, options) => note(await client.patch(ref, patch, options)),
    apply: async (object, options) => note(await client.apply(object, options)),
    delete: async (ref, options) => note((await client.delete(ref, options)) as T),
  };
}
