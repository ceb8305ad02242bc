import { applyJsonPatch, applyMergePatch, badRequest, formatApiVersion, type KubeObject } from '@asterism/machinery';
import { encodeObject, StoredObject } from '../storage/stored-object.ts';
import { modified, type ObjectWriter } from './object-writer.ts';
import type { ObjectRef, Patch, WriteContext, Written } from './registry.ts';
import { scaleOf, withScale } from './scale.ts';
import type { ServedVersion } from './served-version.ts';

/** Writes through the `scale` subresource: the object's replicas, seen as `autoscaling/v1` Scale. */
export class ScaleWriter {
  readonly #writer: ObjectWriter;

  constructor(writer: ObjectWriter) {
    this.#writer = writer;
  }

  async update(resource: ServedVersion, ref: ObjectRef, body: KubeObject, context: WriteContext): Promise<Written> {
    requireScale(resource, ref, body);
    // What is there is not looked at: of a custom resource its replicas may be absent before.
    return this.#write(resource, ref, context, () => body);
  }

  async patch(resource: ServedVersion, ref: ObjectRef, patch: Patch, context: WriteContext): Promise<Written> {
    if (patch.type === 'apply') return this.#apply(resource, ref, patch, context);
    // A Scale has no lists to merge, so that both merges are the same.
    const change = patch.type === 'json' ? applyJsonPatch : applyMergePatch;
    return this.#write(resource, ref, context, (scale) => change(scale(), patch.body) as KubeObject);
  }

  /** An apply of a Scale is an apply of the object with nothing but its replicas. */
  async #apply(
    resource: ServedVersion,
    ref: ObjectRef,
    patch: Patch & { type: 'apply' },
    context: WriteContext,
  ): Promise<Written> {
    const { kind } = resource.type;
    const scale = patch.body as KubeObject;
    const applied = { kind, apiVersion: resource.apiVersion, metadata: scale.metadata ?? {} };
    const body = withScale(resource, applied, scale);
    const { stored } = await this.#writer.patch(resource, ref, { ...patch, body }, context);
    return { stored: storedScale(resource, stored), created: false };
  }

  async #write(
    resource: ServedVersion,
    ref: ObjectRef,
    context: WriteContext,
    change: (scale: () => KubeObject) => KubeObject,
  ): Promise<Written> {
    const stored = await this.#writer.rewrite(resource, ref, context, (old) => {
      const scale = change(() => scaleOf(resource, old));
      const { resourceVersion } = scale.metadata ?? {};
      if (resourceVersion && resourceVersion !== old.metadata?.resourceVersion) throw modified(resource, ref.name);
      return withScale(resource, old, scale);
    });
    return { stored: storedScale(resource, stored), created: false };
  }
}

/** The Scale of a stored object, in the form in which objects are answered. */
export function storedScale(resource: ServedVersion, stored: StoredObject): StoredObject {
  const scale = scaleOf(resource, stored.parse());
  return new StoredObject(encodeObject(scale, stored.revision), stored.revision, scale);
}

function requireScale({ type }: ServedVersion, { name }: ObjectRef, body: KubeObject): void {
  const { kind = 'Scale', apiVersion = 'autoscaling/v1', metadata } = body;
  if (kind !== 'Scale') {
    const own = kind === type.kind && apiVersion === formatApiVersion(type) ? type.version : apiVersion;
    throw badRequest(
      `${kind} in version "${type.version}" cannot be handled as a Scale: converting (${own}.${kind}) to (autoscaling.Scale): unknown conversion`,
    );
  }
  if (metadata?.name && metadata.name !== name) {
    throw badRequest(`the name of the object (${metadata.name}) does not match the name on the URL (${name})`);
  }
}
