import { badRequest, forbidden, type KubeObject, schemaOfKind } from '@asterism/machinery';
import { attributesOf } from '../authentication/impersonation.ts';
import type { Authorizer } from '../contract/authorizer.ts';
import { forbiddenError } from '../contract/forbidden-error.ts';
import { probeDecoding } from '../registry/decode-object.ts';
import type { Registry, WatchItem } from '../registry/registry.ts';
import { IGNORE_READ_ERROR } from '../storage/storage-read-error.ts';
import { answerStatus, encodeValue, methodNotAllowed, resourceNotServed } from './answer/answer.ts';
import type { ApiCall } from './request/api-call.ts';
import type { ApiResponse } from '../contract/api-request.ts';
import type { Creation, Creations } from '../contract/creation.ts';
import { readDeleteOptions } from './request/delete-options.ts';
import { notOfKind, refuseCustomPath } from './request/custom-resource-path.ts';
import { decodeObject } from './body/decode-body.ts';
import { ListTurns } from './answer/list-turns.ts';
import { type Encoding, negotiate, type Offer, type Representation } from './answer/negotiate.ts';
import { checkPodConnection, noBackend } from './pod-connection.ts';
import { deleteOptionsObject, writeOptionsObject } from './request/operation-options.ts';
import { findResource, type FoundResource } from './request/find-resource.ts';
import { checkSelection } from '../contract/field-selection.ts';
import type { RequestInfo } from '../contract/request-info.ts';
import { readPatch } from './request/read-patch.ts';
import { createRepresenter, readIncludeObject } from './answer/create-representer.ts';
import { firstHeader } from '../contract/first-header.ts';
import type { IncludeObject, Representer } from './answer/representer.ts';
import { resolveTarget, type Target } from './request/resolve-target.ts';
import { WatchBody } from './answer/watch-body.ts';
import { withFieldOwner } from './request/with-field-owner.ts';
import { talk, writeContext } from './request/write-context.ts';
import { readBoolean, readInteger, readWriteOptions } from './request/write-options.ts';
import type { ServedResource } from '../contract/served-resource.ts';

/** Watches without `timeoutSeconds` end after 30 to 60 minutes, so that their clients spread over restarted servers. */
const MIN_WATCH_SECONDS = 30 * 60;

export interface ResourceHandlerOptions {
  registry: Registry;
  authorizer: Authorizer;
  /** What is posted to these is answered and not stored. */
  creations: Creations;
  clock: () => number;
  /** In [0, 1). */
  random: () => number;
  onWatchEvents(resource: ServedResource, count: number): void;
}

/**
 * Serves the registry's resources: reads options and bodies, calls the verb, writes the answer in the representation that
 * was asked for. Rejects with `StatusError`.
 */
export class ResourceHandler {
  readonly #options: ResourceHandlerOptions;
  readonly #frames = new WeakMap<WatchItem, Buffer>();
  readonly #listTurns = new ListTurns();

  constructor(options: ResourceHandlerOptions) {
    this.#options = options;
  }

  /** Undefined if the registry does not serve the resource that the path names. */
  find(info: RequestInfo): FoundResource | undefined {
    return findResource(this.#options.registry, info);
  }

  /** `found`: the answer of {@link find} for the call. */
  async handle(call: ApiCall, found: FoundResource | undefined): Promise<ApiResponse> {
    const refusal = refuseCustomPath(this.#options.registry, call.info, found);
    if (refusal) return refusal;
    if (found === undefined) throw resourceNotServed();
    const target = resolveTarget(call, found);
    if (target.connects) return await this.#connect(target);
    return await this.#serve(target);
  }

  async #serve(target: Target): Promise<ApiResponse> {
    switch (target.call.info.verb) {
      case 'get':
        return await this.#get(target);
      case 'list':
        return await this.#list(target);
      case 'watch':
        return await this.#watch(target);
      case 'create':
        return await this.#create(target);
      case 'update':
        return await this.#update(target);
      case 'patch':
        return await this.#patch(target);
      case 'delete':
        return await this.#delete(target);
      case 'deletecollection':
        return await this.#deleteCollection(target);
      default:
        throw methodNotAllowed();
    }
  }

  /** Connections go to nodes, and a server without handlers for them has none. */
  async #connect({ call: { info, request }, resource, ref }: Target): Promise<ApiResponse> {
    const { registry } = this.#options;
    const { subresource } = info;
    if (info.group === '' && info.resource === 'pods') {
      const checked = await checkPodConnection({ registry, pods: resource, ref, subresource, query: request.query });
      if (checked === 'empty') return { status: 204, headers: {}, body: undefined };
    }
    throw noBackend(info.resource, subresource);
  }

  async #get(target: Target): Promise<ApiResponse> {
    const { call, resource, ref } = target;
    const representer = this.#representer(target);
    const stored = await this.#options.registry.get(resource, ref, {
      resourceVersion: call.request.query.get('resourceVersion') ?? undefined,
      subresource: target.subresource?.name,
      signal: call.request.signal,
    });
    return await representer.object(200, stored);
  }

  async #list(target: Target): Promise<ApiResponse> {
    const { call, resource, ref } = target;
    const representer = this.#representer(target);
    const { query, signal } = call.request;
    // Only a watch has use for it, but it must be a number here too.
    readInteger(query, 'timeoutSeconds');
    const sendInitialEvents = readBoolean(query, 'sendInitialEvents');
    const selection = { namespace: ref.namespace, ...readSelection(call), sendInitialEvents, signal };
    await this.#listTurns.enter();
    const list = await this.#options.registry.list(resource, selection);
    this.#listTurns.done(list.items.length);
    return await representer.list(list);
  }

  async #watch(target: Target): Promise<ApiResponse> {
    const { call, resource, ref } = target;
    const { query, signal, headers } = call.request;
    const representation = negotiate(headers.accept, {
      ...OFFER,
      encodings: ['json', 'protobuf'],
      plain: plainEncodings(resource),
      stream: true,
    });
    const representer = this.#represent(target, representation);
    const seconds = readInteger(query, 'timeoutSeconds') ?? 0;
    const { limit: _, ...selection } = readSelection(call);
    const stream = await this.#options.registry.watch(resource, {
      namespace: ref.namespace,
      ...selection,
      allowBookmarks: readBoolean(query, 'allowWatchBookmarks'),
      sendInitialEvents: readBoolean(query, 'sendInitialEvents'),
      signal,
    });
    const body = new WatchBody(stream, {
      line: await representer.watchLines(),
      // In whole seconds: Node keeps a list of timers for each length there is.
      timeoutMs: (seconds > 0 ? seconds : Math.ceil(MIN_WATCH_SECONDS * (1 + this.#options.random()))) * 1000,
      onEvents: (count) => this.#options.onWatchEvents(resource, count),
    });
    return { status: 200, headers: { 'content-type': representer.watchType }, body };
  }

  async #create(target: Target): Promise<ApiResponse> {
    const { call, resource, subresource, ref } = target;
    const path = [resource.type.group, resource.type.resource, ...(subresource ? [subresource.name] : [])].join('/');
    const creation = this.#options.creations.get(path);
    if (creation !== undefined) return await this.#createUnstored(creation, target);
    const representer = this.#representer(target);
    const options = readWriteOptions(call.request, 'CreateOptions');
    const { object, strictErrors } = await this.#readObject(target);
    const stored = await this.#options.registry.create(resource, object, {
      namespace: ref.namespace,
      name: ref.name === '' ? undefined : ref.name,
      subresource: subresource?.name,
      ...writeContext(call, options, strictErrors),
    });
    return await representer.object(201, stored);
  }

  async #createUnstored(creation: Creation, target: Target): Promise<ApiResponse> {
    const { call, ref, resource, subresource } = target;
    const { encoding } = negotiate(call.request.headers.accept, { ...OFFER, transforms: [] });
    const { fieldManager } = readWriteOptions(call.request, 'CreateOptions');
    const { object: read } = await this.#readObject(target);
    const posted = decodeUnstored(read, target);
    const context = {
      ...ref,
      subresource: subresource?.name,
      user: call.user,
      options: () => writeOptionsObject(call.request.query, 'CREATE'),
      ...talk(call),
    };
    const object = await this.#options.registry.admitUnstored(
      resource,
      { operation: 'CREATE', object: posted },
      context,
    );
    const answer = await creation({ object, user: call.user, ...ref });
    const owned = withFieldOwner(object, answer, { fieldManager, now: this.#options.clock(), ...target });
    return await encodeValue(201, owned, encoding);
  }

  async #update(target: Target): Promise<ApiResponse> {
    const { call, resource, subresource, ref } = target;
    const representer = this.#representer(target);
    const options = readWriteOptions(call.request, 'UpdateOptions');
    const { object, strictErrors } = await this.#readObject(target);
    const { stored, created } = await this.#options.registry.update(resource, ref, object, {
      subresource: subresource?.name,
      authorizeCreate: () => this.#authorizeCreate(call),
      ...writeContext(call, options, strictErrors),
    });
    return await representer.object(created ? 201 : 200, stored);
  }

  async #patch(target: Target): Promise<ApiResponse> {
    const { call, resource, subresource, ref } = target;
    const representer = this.#representer(target);
    const { patch, options, strictErrors } = await readPatch(call.request, resource.storage === 'custom');
    const { stored, created } = await this.#options.registry.patch(resource, ref, patch, {
      subresource: subresource?.name,
      authorizeCreate: () => this.#authorizeCreate(call),
      ...writeContext(call, options, strictErrors),
    });
    return await representer.object(created ? 201 : 200, stored);
  }

  async #delete(target: Target): Promise<ApiResponse> {
    const { call, resource, ref } = target;
    const representation = negotiate(call.request.headers.accept, { ...OFFER, plain: plainEncodings(resource) });
    const options = await readDeleteOptions(call.request);
    if (options[IGNORE_READ_ERROR]) await this.#authorizeUnsafeDelete(target);
    const { stored, status, finalized } = await this.#options.registry.delete(resource, ref, options, {
      user: call.user,
      dryRun: options.dryRun,
      options: () => deleteOptionsObject(options),
      ...talk(call),
    });
    if (stored === undefined) return await answerStatus(status!, representation.encoding);
    const accepted = !finalized && options.orphanDependents === false;
    return await this.#represent(target, representation).object(accepted ? 202 : 200, stored);
  }

  async #deleteCollection(target: Target): Promise<ApiResponse> {
    const { call, resource, ref } = target;
    const representer = this.#representer(target);
    const selection = { namespace: ref.namespace, ...readSelection(call) };
    const options = await readDeleteOptions(call.request);
    const list = await this.#options.registry.deleteCollection(resource, selection, options, {
      user: call.user,
      dryRun: options.dryRun,
      options: () => deleteOptionsObject(options),
      ...talk(call),
    });
    return await representer.list(list);
  }

  /** As upstream: who deletes past finalizers needs a verb of its own. */
  async #authorizeUnsafeDelete({ call: { user, info }, resource, ref }: Target): Promise<void> {
    const verb = 'unsafe-delete-ignore-read-errors';
    const { allowed, reason } = await this.#options.authorizer.authorize({ ...attributesOf(user, info), verb });
    if (!allowed) throw forbidden(resource.type, ref.name, `not permitted to do "${verb}", reason: ${reason}`);
  }

  async #authorizeCreate({ user, info }: ApiCall): Promise<void> {
    const attributes = { ...attributesOf(user, info), verb: 'create' };
    const { allowed, reason } = await this.#options.authorizer.authorize(attributes);
    if (!allowed) throw forbiddenError(attributes, reason);
  }

  #representer(target: Target): Representer {
    const { accept } = target.call.request.headers;
    return this.#represent(target, negotiate(accept, { ...OFFER, plain: plainEncodings(target.resource) }));
  }

  #represent(target: Target, representation: Representation): Representer {
    const { call, resource, subresource } = target;
    const includeObject: IncludeObject =
      representation.as === 'Table' ? readIncludeObject(call.request.query) : 'Metadata';
    const kind = subresource ?? resource.type;
    return createRepresenter(resource, kind, representation, {
      includeObject,
      clock: this.#options.clock,
      frames: this.#frames,
    });
  }

  async #readObject({ call, resource, subresource }: Target) {
    const expected = subresource ?? resource.type;
    const anyVersion = subresource !== undefined && subresource.kind !== resource.type.kind;
    const isCustom = resource.storage === 'custom';
    const decoded = await decodeObject(
      await call.request.body(),
      firstHeader(call.request.headers, 'content-type'),
      expected,
      {
        anyVersion,
        // A custom resource of another kind is refused by its own validation.
        anyKind: isCustom,
        lastCounts: isCustom,
      },
    );
    if (isCustom && anyVersion && decoded.object.kind !== expected.kind) throw notOfKind(expected.kind);
    call.audit?.object(decoded.object);
    return decoded;
  }
}

const OFFER: Offer = {
  encodings: ['json', 'yaml', 'protobuf'],
  transforms: ['Table', 'PartialObjectMetadata', 'PartialObjectMetadataList'],
};

/** Custom resources have no messages, but their metadata has. */
function plainEncodings({ storage }: ServedResource): Encoding[] {
  return storage === 'builtin' ? ['json', 'yaml', 'protobuf'] : ['json', 'yaml'];
}

/** The field selector is the one that was authorized, never the query's own. */
function readSelection({ info: { selection }, request: { query } }: ApiCall) {
  checkSelection(selection);
  const text = (name: string): string | undefined => query.get(name) || undefined;
  return {
    labelSelector: text('labelSelector'),
    fieldSelector: selection.text || undefined,
    limit: readInteger(query, 'limit'),
    continue: text('continue'),
    resourceVersion: text('resourceVersion'),
    resourceVersionMatch: text('resourceVersionMatch'),
  };
}

/** As its kind has it; 400 where a field has another type than that gives it. */
function decodeUnstored(
  object: KubeObject,
  { resource, subresource }: Pick<Target, 'resource' | 'subresource'>,
): KubeObject {
  const { group, version, kind } = subresource ?? resource.type;
  const schema = schemaOfKind({ group, version, kind });
  if (schema === undefined) return object;
  return probeDecoding(object, schema, (why) =>
    badRequest(`${kind} in version "${version}" cannot be handled as a ${kind}: ${why}`),
  );
}
