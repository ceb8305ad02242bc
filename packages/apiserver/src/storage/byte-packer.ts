import { setImmediate } from 'node:timers/promises';
import type { CacheEvent, ResourceCache } from './resource-cache.ts';
import { Slab } from './slab.ts';
import type { StoredObject } from './stored-object.ts';

/** From the first of some writes. */
const LOOK_MS = 3_000;
const SLAB_BYTES = 256 * 1024;
/** So much is copied in one go, which takes less than a millisecond. */
const TURN_BYTES = 1024 * 1024;
/** It is worth it from so many objects on that were written since the last time, and from such a part of all. */
const WORTH_OBJECTS = 256;
const WORTH_PART = 1 / 8;
/**
 * What was written since so many looks, 15 s, may well be written again: a heartbeat would be moved once for each time that it comes,
 * and what is remembered of it keep whole slabs.
 */
const LOOKS_OF_YOUTH = 5;
/** A server is calm while no more than this part of those was written since the last look. */
const CALM_PART = 1 / 8;

/**
 * Moves the bytes of what is kept together, once writing has calmed down. An allocation for each object costs 350 bytes beside
 * its own and leaves holes all over the heap when it goes, half as much again as the objects of a small cluster.
 */
export class BytePacker {
  readonly #caches: () => Iterable<ResourceCache>;
  #timer: NodeJS.Timeout | undefined;
  #slab: Slab | undefined;
  #loose = 0;
  #sinceLook = 0;
  #isPacking = false;
  #isStopped = false;
  #revision = 0;
  /** Revisions at the last looks, oldest first. */
  readonly #looks: number[] = [];

  constructor(caches: () => Iterable<ResourceCache>) {
    this.#caches = caches;
  }

  /** To be told of every change. */
  note({ previous, revision }: CacheEvent): void {
    previous?.slab?.remove(previous.size);
    this.#revision = revision;
    this.#sinceLook++;
    this.#lookLater();
  }

  /** Moves one object to the others. */
  place(object: StoredObject): void {
    object.moveTo(this.#slabFor(object));
  }

  /** Resolves when every object that was not written after `revision` lies in a slab, and no slab of these is sparse. */
  async pack(revision = Number.POSITIVE_INFINITY): Promise<void> {
    this.#loose = 0;
    let copied = 0;
    for (const cache of this.#caches()) {
      for (const object of cache.objects()) {
        if (object.slab && !(object.slab.isSparse && object.slab !== this.#slab)) continue;
        if (object.revision > revision) {
          this.#loose++;
          continue;
        }
        this.place(object);
        copied += object.size;
        if (copied < TURN_BYTES) continue;
        copied = 0;
        await setImmediate();
        if (this.#isStopped) return;
      }
    }
  }

  stop(): void {
    this.#isStopped = true;
    clearTimeout(this.#timer);
  }

  #lookLater(): void {
    if (!this.#isStopped) this.#timer ??= setTimeout(() => void this.#look(), LOOK_MS).unref();
  }

  async #look(): Promise<void> {
    this.#timer = undefined;
    const written = this.#sinceLook;
    this.#sinceLook = 0;
    this.#loose += written;
    const [old] = this.#looks.length < LOOKS_OF_YOUTH ? [] : this.#looks.splice(0, 1);
    this.#looks.push(this.#revision);
    if (this.#loose < Math.max(WORTH_OBJECTS, this.#count() * WORTH_PART)) return;
    if (this.#isPacking || old === undefined || written > this.#loose * CALM_PART) return this.#lookLater();
    this.#isPacking = true;
    await this.pack(old);
    this.#isPacking = false;
    if (this.#loose > 0) this.#lookLater();
  }

  #count(): number {
    let count = 0;
    for (const { size } of this.#caches()) count += size;
    return count;
  }

  #slabFor({ size }: StoredObject): Slab {
    if (!this.#slab?.hasRoomFor(size)) this.#slab = new Slab(Math.max(SLAB_BYTES, size));
    return this.#slab;
  }
}
