import type { Steps } from '@asterism/machinery';
import type { TextEdit } from './edit-json-text.ts';
import type { Change } from './override-step.ts';
import { type FieldOverrider, mergeInto, TextEditor } from './text-editor.ts';
import { performTextTask, type TextTask } from './text-task.ts';
import type { TextThread } from './text-thread.ts';

const MAX_PATCHES = 100;

/** Characters up to which a text is edited at once: YAML of this length takes about 10 ms. */
const SMALL_TEXT = 2_048;

/**
 * The texts that overriders edit, or are. The outcome of an edit is remembered for as long as its policy stays as it is: the same is asked
 * for every cluster, and again whenever one of them reports. Large texts go to the thread, if there is one.
 */
export class OverrideTexts {
  readonly #last = new WeakMap<FieldOverrider, { text: string; edited: TextEdit | Promise<TextEdit> }>();
  /** By its text, what a merge patch says. */
  readonly #patches = new Map<string, Change | Promise<Change>>();
  readonly #thread: TextThread | undefined;
  /** The library for YAML is large: it is loaded where a text comes up. */
  #editor: Promise<TextEditor> | undefined;

  constructor(thread?: TextThread) {
    this.#thread = thread;
  }

  async edit(text: string, overrider: FieldOverrider): Promise<TextEdit> {
    const last = this.#last.get(overrider);
    if (last?.text === text) return last.edited;
    const isSmall = text.length + JSON.stringify(overrider).length <= SMALL_TEXT;
    const edited = this.#perform({ edit: text, overrider }, isSmall) as Promise<TextEdit>;
    const entry: { text: string; edited: TextEdit | Promise<TextEdit> } = { text, edited };
    this.#last.set(overrider, entry);
    try {
      return (entry.edited = await edited);
    } catch (error) {
      if (this.#last.get(overrider) === entry) this.#last.delete(overrider);
      throw error;
    }
  }

  /** The steps to the value after a merge patch, which may be a text of YAML or JSON. */
  async merge(value: unknown, patch: unknown): Promise<Steps<Change>> {
    return mergeInto(value, typeof patch === 'string' ? await this.#read(patch) : { value: patch });
  }

  async #read(patch: string): Promise<Change> {
    const known = this.#patches.get(patch);
    if (known) return known;
    const reading = this.#perform({ read: patch }, patch.length <= SMALL_TEXT) as Promise<Change>;
    if (this.#patches.size >= MAX_PATCHES) this.#patches.clear();
    this.#patches.set(patch, reading);
    try {
      return await reading;
    } catch (error) {
      this.#patches.delete(patch);
      throw error;
    }
  }

  async #perform(task: TextTask, isSmall: boolean): Promise<TextEdit | Change> {
    if (!isSmall && this.#thread) return this.#thread.perform(task);
    return performTextTask(await (this.#editor ??= TextEditor.load()), task);
  }
}
