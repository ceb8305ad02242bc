import type { Binding } from '../../template/binding-client.ts';

/** Why the hub's own API server did not take a Work, by binding and cluster. */
export class Refusals {
  readonly #messages = new Map<string, string>();
  readonly #changed: (binding: Binding) => void;

  /** @param changed - called when the message for one of the binding's clusters has changed. */
  constructor(changed: (binding: Binding) => void) {
    this.#changed = changed;
  }

  /** Notes why the Work could not be written; undefined if it was. */
  note(binding: Binding, clusterName: string, message: string | undefined): void {
    const key = keyOf(binding, clusterName);
    if (this.#messages.get(key) === message) return;
    if (message === undefined) this.#messages.delete(key);
    else this.#messages.set(key, message);
    this.#changed(binding);
  }

  of(binding: Binding, clusterName: string): string | undefined {
    return this.#messages.get(keyOf(binding, clusterName));
  }
}

function keyOf({ metadata }: Binding, clusterName: string): string {
  return `${metadata.uid}/${clusterName}`;
}
