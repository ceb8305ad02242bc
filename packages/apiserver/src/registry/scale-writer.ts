import {
  conflict,
  type KubeObject,
  type ManagedFieldsEntry,
  managedFieldsAfterScale,
  managedFieldsOfScale,
  type ReplicasPaths,
  schemaOfKind,
} from '@asterism/machinery';
import { encodeObject, StoredObject } from '../storage/stored-object.ts';
import { decodeObject } from './decode-object.ts';
import { trackFields } from './field-ownership.ts';
import { formatTime, settleNamespace } from './metadata.ts';
import type { ObjectWriter } from './object-writer.ts';
import { requireName } from './require-identity.ts';
import { decodePatched, patchObject, customPatchNotSupported } from './patch-object.ts';
import type { Patch, WriteContext, Written } from './registry.ts';
import { modified } from './require-seen.ts';
import { replicasPath, scaleForUpdate, scaleOf, withScale } from './scale.ts';
import { ServedVersion } from './served-version.ts';
import type { Draft } from '../contract/strategy.ts';
import { type AdmissionView, WriteRequest } from './write.ts';

const SCALE_KIND = { group: 'autoscaling', version: 'v1', kind: 'Scale' };

/** Writes through the `scale` subresource: the object's replicas, seen as `autoscaling/v1` Scale. */
export class ScaleWriter {
  readonly #writer: ObjectWriter;
  readonly #clock: () => number;
  /** A Scale is decoded, patched and owned as an object of its own kind is. */
  readonly #scale = new ServedVersion({
    type: { ...SCALE_KIND, resource: 'scales', namespaced: true },
    singular: 'scale',
    verbs: [],
    storage: 'builtin',
    strategy: {},
    structural: () => schemaOfKind(SCALE_KIND),
  });

  constructor(writer: ObjectWriter, clock: () => number) {
    this.#writer = writer;
    this.#clock = clock;
  }

  async update(request: WriteRequest, body: KubeObject): Promise<Written> {
    const { ref, context } = request;
    const decoded = decodeObject(this.#scale, body, context);
    settleNamespace(this.#scale, decoded, ref.namespace);
    requireName(decoded, ref.name);
    return this.#write(request, (live, now) => {
      const scale = { ...decoded, metadata: { ...decoded.metadata } };
      trackFields(this.#scale, scale, live, ownership(context, now));
      return scale;
    });
  }

  async patch(request: WriteRequest, patch: Patch): Promise<Written> {
    const { resource, ref, context } = request;
    if (patch.type === 'strategic' && resource.storage === 'custom') throw customPatchNotSupported();
    return this.#write(request, (live, now) => {
      const patched = patchObject(this.#scale, live, patch, { ...context, now });
      const scale = decodePatched(this.#scale, live, patched, patch, context);
      settleNamespace(this.#scale, scale, ref.namespace);
      requireName(scale, ref.name);
      if (patch.type !== 'apply') trackFields(this.#scale, scale, live, ownership(context, now));
      return scale;
    });
  }

  /** `change` makes the new Scale of the live one; both carry the owners that a Scale has for the time of a write. */
  async #write(request: WriteRequest, change: (live: KubeObject, now: string) => Draft): Promise<Written> {
    const { resource, ref, context, work } = request;
    const paths: ReplicasPaths = () => replicasPath(resource);
    const stored = await this.#writer.rewrite(
      new WriteRequest(resource, ref, { ...context, fieldManager: undefined }, work),
      (old) => {
        const live = withOwners(scaleForUpdate(resource, old), managedFieldsOfScale(old, paths));
        const scale = change(live, formatTime(this.#clock()));
        const { resourceVersion = '', uid = '' } = scale.metadata;
        if (uid !== '' && uid !== old.metadata?.uid) throw anotherObject(resource, ref.name, uid, old);
        if (resourceVersion !== '' && resourceVersion !== '0' && resourceVersion !== old.metadata?.resourceVersion) {
          throw modified(resource, ref.name);
        }
        const scaled = withScale(resource, old, scale);
        return withOwners(scaled, managedFieldsAfterScale(old, scale.metadata.managedFields, paths));
      },
      viewOf(resource),
    );
    return { stored: storedScale(resource, stored), created: false };
  }
}

/** The Scale of a stored object, in the form in which objects are answered. */
export function storedScale(resource: ServedVersion, stored: StoredObject): StoredObject {
  const scale = scaleOf(resource, stored.parse());
  return new StoredObject(encodeObject(scale, stored.revision), stored.revision, scale);
}

/** Admission is asked about the Scale, not about what it is a part of. */
function viewOf(resource: ServedVersion): AdmissionView {
  return {
    show: (object) => scaleOf(resource, object),
    take: (object, scale) => withScale(resource, object, scale),
  };
}

function ownership({ fieldManager, subresource }: WriteContext, now: string) {
  return { manager: fieldManager, subresource, now };
}

function withOwners(object: KubeObject, managedFields: ManagedFieldsEntry[] | undefined): KubeObject {
  const { managedFields: _, ...metadata } = object.metadata ?? {};
  return { ...object, metadata: managedFields ? { ...metadata, managedFields } : metadata };
}

function anotherObject({ type }: ServedVersion, name: string, uid: string, old: KubeObject): Error {
  const why = `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${old.metadata?.uid}`;
  return conflict({ group: type.group, resource: `${type.resource}/scale` }, name, why);
}
