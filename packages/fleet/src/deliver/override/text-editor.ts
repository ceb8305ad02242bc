import { finishSteps, isJsonObject, JsonPatchedDocument, mergePatchInSteps, type Steps } from '@asterism/machinery';
import type { Overriders } from '../../api/index.ts';
import { editJsonText, type TextEdit } from './edit-json-text.ts';
import { loadYamlEditor, type YamlEditor } from './edit-yaml-text.ts';
import { applyOperation } from './override-operations.ts';
import type { Change } from './override-step.ts';

export type FieldOverrider = NonNullable<Overriders['fieldOverrider']>[number];

/** Edits texts of JSON and YAML as overriders say. It computes for seconds on a large text of YAML: see `OverrideTexts`. */
export class TextEditor {
  readonly #yaml: YamlEditor;

  constructor(yaml: YamlEditor) {
    this.#yaml = yaml;
  }

  static async load(): Promise<TextEditor> {
    return new TextEditor(await loadYamlEditor());
  }

  edit(text: string, overrider: FieldOverrider): TextEdit {
    const change = (value: unknown) => this.#change(value, overrider);
    return isForYaml(overrider) ? this.#yaml.edit(text, change) : editJsonText(text, change);
  }

  /** The value of a text of YAML or JSON. */
  read(text: string): Change {
    return this.#yaml.read(text);
  }

  #change(document: unknown, { json, yaml, jsonMergePatch, yamlMergePatch }: FieldOverrider): Change {
    const patched = new JsonPatchedDocument(document);
    for (const [index, { subPath, operator, ...rest }] of (json ?? yaml ?? []).entries()) {
      const fault = applyOperation(patched, { op: operator, path: subPath, ...rest });
      if (fault !== undefined) return { fault: `${json ? 'json' : 'yaml'}[${index}]: ${fault}` };
    }
    const patch = jsonMergePatch ?? yamlMergePatch;
    if (patch === undefined) return { value: patched.value };
    return finishSteps(mergeInto(patched.value, typeof patch === 'string' ? this.read(patch) : { value: patch }));
  }
}

/** The value after a merge patch. */
export function* mergeInto(value: unknown, patch: Change): Steps<Change> {
  if ('fault' in patch) return { fault: `the patch ${patch.fault}` };
  return isJsonObject(patch.value)
    ? { value: yield* mergePatchInSteps(value, patch.value) }
    : { fault: 'the patch is no object, nor the text of one' };
}

/** Whether the text that it edits is YAML. */
export function isForYaml({ yaml, yamlMergePatch }: FieldOverrider): boolean {
  return yaml !== undefined || yamlMergePatch !== undefined;
}
