import type { KubeObject } from '@asterism/machinery';
import type { StoredObject } from '../storage/stored-object.ts';
import { LongWork } from './long-work.ts';
import type { AdmissionRequest } from '../contract/admission-step.ts';
import type { DeleteOptions } from '../contract/delete-options.ts';
import type { ObjectRef, WriteContext } from './registry.ts';
import type { ServedVersion } from './served-version.ts';
import type { Draft, StrategyContext } from '../contract/strategy.ts';

/** A request to write one object. Every attempt at it is a {@link Write}. */
export class WriteRequest {
  readonly resource: ServedVersion;
  readonly ref: ObjectRef;
  readonly context: WriteContext;
  /** All attempts are one piece of work: others have their turn during a long request, however it is divided. */
  readonly work: LongWork;

  constructor(resource: ServedVersion, ref: ObjectRef, context: WriteContext, work: LongWork = new LongWork()) {
    this.resource = resource;
    this.ref = ref;
    this.context = context;
    this.work = work;
  }
}

/** The object that a write wants to store, and its origin. */
export interface Proposal {
  object: Draft;
  /** `managedFields` are already as the write leaves them. */
  tracked: boolean;
  /** The object was pruned and has the defaults of its schema. */
  decoded?: boolean;
  /** Admission sees the object through it. */
  view?: AdmissionView | undefined;
  /** Lists that were given as empty. The writer owns them all the same. */
  emptied?: readonly (readonly string[])[];
}

/** Shows an object as one of another kind, and takes changes of that one back. */
export interface AdmissionView {
  show(object: KubeObject): KubeObject;
  take(object: KubeObject, shown: KubeObject): KubeObject;
}

/** One attempt to write one object. It carries the facts that the steps of {@link WritePipeline} share. */
export interface Write extends Readonly<Partial<Omit<Proposal, 'object'>>> {
  readonly operation: AdmissionRequest['operation'];
  readonly resource: ServedVersion;
  readonly context: WriteContext;
  readonly strategyContext: StrategyContext;
  readonly work: LongWork;
  readonly namespace: string | undefined;
  /** '' until it is generated. */
  name: string;
  /** The stored object. Undefined for a creation. */
  readonly current: StoredObject | undefined;
  /** `current` in the version of the request. */
  readonly old: KubeObject | undefined;
  /** The object to store, as the last step left it. Undefined for a deletion. */
  object: Draft | undefined;
  /** Admission returned another object than it was given. */
  isReplaced: boolean;
}

export type Creation = Write & Proposal;
export type Update = Write & Proposal & Existing;
export type Deletion = Write & Existing & { readonly options: DeleteOptions };

interface Existing {
  readonly current: StoredObject;
  readonly old: KubeObject;
}

/** An object as it is now, and whether this write created it. */
export interface WriteResult {
  stored: StoredObject;
  created: boolean;
}
