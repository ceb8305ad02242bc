import type { StorageKey } from '../contract/object-change.ts';
import type { Change } from './storage.ts';

/** The end of a damaged row. */
export class Discard implements Change {
  readonly type = 'delete';
  readonly discards = true;
  readonly expected = 0;
  readonly essentialBytes = 0;
  readonly groupResource: string;
  readonly namespace: string;
  readonly name: string;

  constructor({ groupResource, namespace, name }: StorageKey) {
    this.groupResource = groupResource;
    this.namespace = namespace;
    this.name = name;
  }

  encode(): Buffer {
    return Buffer.alloc(0);
  }
}
