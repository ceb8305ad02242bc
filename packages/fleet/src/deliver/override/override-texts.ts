import { applyMergePatch, isJsonObject } from '@asterism/machinery';
import type { Overriders } from '../../api/index.ts';
import { editJsonText, type TextEdit } from './edit-json-text.ts';
import { loadYamlEditor, type YamlEditor } from './edit-yaml-text.ts';
import { applyOperation } from './override-operations.ts';
import type { Change } from './override-step.ts';

type FieldOverrider = NonNullable<Overriders['fieldOverrider']>[number];

const MAX_PATCHES = 100;

/**
 * The texts that overriders edit, or are. What an overrider made of a text is remembered for as long as its policy stays as it is:
 * the same is asked for every cluster, and again whenever one of them reports.
 */
export class OverrideTexts {
  readonly #last = new WeakMap<FieldOverrider, { text: string; edited: TextEdit }>();
  /** By its text, what a merge patch says. */
  readonly #patches = new Map<string, Change>();
  #yaml: YamlEditor | undefined;

  /** To be called before anything else for those that may be asked about: the library for YAML is loaded where one needs it. */
  async prepareFor(overriders: Iterable<Overriders>): Promise<void> {
    if (this.#yaml === undefined && [...overriders].some(needsYaml)) this.#yaml = await loadYamlEditor();
  }

  edit(text: string, overrider: FieldOverrider): TextEdit {
    const last = this.#last.get(overrider);
    if (last?.text === text) return last.edited;
    const change = (value: unknown) => this.#change(value, overrider);
    const edited = isForYaml(overrider) ? this.#editor().edit(text, change) : editJsonText(text, change);
    this.#last.set(overrider, { text, edited });
    return edited;
  }

  /** The value after a merge patch, which may be a text of YAML or JSON. */
  merge(value: unknown, patch: unknown): Change {
    const read = typeof patch === 'string' ? this.#read(patch) : { value: patch };
    if ('fault' in read) return { fault: `the patch ${read.fault}` };
    return isJsonObject(read.value)
      ? { value: applyMergePatch(value, read.value) }
      : { fault: 'the patch is no object, nor the text of one' };
  }

  #change(document: unknown, { json, yaml, jsonMergePatch, yamlMergePatch }: FieldOverrider): Change {
    let value = document;
    for (const [index, { subPath, operator, ...rest }] of (json ?? yaml ?? []).entries()) {
      const change = applyOperation(value, { op: operator, path: subPath, ...rest });
      if ('fault' in change) return { fault: `${json ? 'json' : 'yaml'}[${index}]: ${change.fault}` };
      value = change.value;
    }
    const patch = jsonMergePatch ?? yamlMergePatch;
    return patch === undefined ? { value } : this.merge(value, patch);
  }

  #read(patch: string): Change {
    const known = this.#patches.get(patch);
    if (known) return known;
    const read = this.#editor().read(patch);
    if (this.#patches.size >= MAX_PATCHES) this.#patches.clear();
    this.#patches.set(patch, read);
    return read;
  }

  #editor(): YamlEditor {
    if (!this.#yaml) throw new Error('a policy that needs YAML is applied before it was prepared for');
    return this.#yaml;
  }
}

/** Whether the text that it edits is YAML. */
export function isForYaml({ yaml, yamlMergePatch }: FieldOverrider): boolean {
  return yaml !== undefined || yamlMergePatch !== undefined;
}

function needsYaml({ fieldOverrider = [], mergePatch = [] }: Overriders): boolean {
  const patches = [...mergePatch, ...fieldOverrider.map(({ jsonMergePatch }) => jsonMergePatch)];
  return fieldOverrider.some(isForYaml) || patches.some((patch) => typeof patch === 'string');
}
