import { applyMergePatch, type KubeObject, parseJsonPointer, valueAtPointer } from '@asterism/machinery';
import type { Overriders } from '../api/index.ts';
import { editJsonText, type TextEdit } from './edit-json-text.ts';
import { loadYamlEditor, type YamlEditor } from './edit-yaml-text.ts';
import { applyOperation } from './override-operations.ts';
import { type Change, changed, failed, noEffect, type OverrideStep, patch } from './override-step.ts';

type FieldOverrider = NonNullable<Overriders['fieldOverrider']>[number];

/**
 * Edits texts as overriders say. What an overrider made of a text is remembered for as long as its policy stays as it is: the same
 * is asked for every cluster, and again whenever one of them reports.
 */
export class FieldEditor {
  readonly #last = new WeakMap<FieldOverrider, { text: string; edited: TextEdit }>();
  #editYaml: YamlEditor | undefined;

  /** To be called before `edit` for policies that may hold these: the library for YAML is loaded only where it is needed. */
  async prepareFor(overriders: Iterable<FieldOverrider>): Promise<void> {
    if (this.#editYaml === undefined && [...overriders].some(isForYaml)) this.#editYaml = await loadYamlEditor();
  }

  edit(text: string, overrider: FieldOverrider): TextEdit {
    const last = this.#last.get(overrider);
    if (last?.text === text) return last.edited;
    const change = (value: unknown) => changeOf(value, overrider);
    const edited = isForYaml(overrider) ? this.#yaml()(text, change) : editJsonText(text, change);
    this.#last.set(overrider, { text, edited });
    return edited;
  }

  #yaml(): YamlEditor {
    if (!this.#editYaml) throw new Error('a policy that edits YAML is applied without an editor of YAML');
    return this.#editYaml;
  }
}

function isForYaml({ yaml, yamlMergePatch }: FieldOverrider): boolean {
  return yaml !== undefined || yamlMergePatch !== undefined;
}

/**
 * Changes what the text at a field says, by operations of JSON Patch, then by a merge patch, and writes it back in the format that
 * it has. Texts of a Secret's `data` are those that their base64 stands for.
 */
export function overrideField(object: KubeObject, overrider: FieldOverrider, editor: FieldEditor): OverrideStep {
  const { fieldPath, json, jsonMergePatch } = overrider;
  const isYaml = isForYaml(overrider);
  const isJson = json !== undefined || jsonMergePatch !== undefined;
  if (isYaml && isJson) return failed(object, 'the text is either JSON or YAML, not both');
  if (!isYaml && !isJson) return noEffect(object, 'there is nothing to change');
  const tokens = parseJsonPointer(fieldPath) ?? [];
  const field = valueAtPointer(object, tokens);
  if (field === undefined) return failed(object, `there is nothing at ${fieldPath}`);
  if (typeof field !== 'string') return failed(object, `what stands at ${fieldPath} is no text`);
  const isBase64 =
    object.apiVersion === 'v1' && object.kind === 'Secret' && tokens[0] === 'data' && tokens.length === 2;
  const text = isBase64 ? decodeBase64(field) : field;
  if (text === undefined) return failed(object, `what stands at ${fieldPath} is no base64 of a text`);
  const edited = editor.edit(text, overrider);
  if ('fault' in edited) return failed(object, `the text at ${fieldPath}: ${edited.fault}`);
  const value = isBase64 ? Buffer.from(edited.text).toString('base64') : edited.text;
  return changed(object, patch(object, [{ op: 'replace', path: fieldPath, value }]));
}

function changeOf(document: unknown, { json, yaml, jsonMergePatch, yamlMergePatch }: FieldOverrider): Change {
  let value = document;
  for (const [index, { subPath, operator, ...rest }] of (json ?? yaml ?? []).entries()) {
    const change = applyOperation(value, { op: operator, path: subPath, ...rest });
    if ('fault' in change) return { fault: `${json ? 'json' : 'yaml'}[${index}]: ${change.fault}` };
    value = change.value;
  }
  const mergePatch = jsonMergePatch ?? yamlMergePatch;
  return { value: mergePatch === undefined ? value : applyMergePatch(value, mergePatch) };
}

function decodeBase64(field: string): string | undefined {
  const bytes = Buffer.from(field, 'base64');
  if (bytes.toString('base64').replace(/=+$/, '') !== field.replace(/=+$/, '')) return undefined;
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (error) {
    if (error instanceof TypeError) return undefined;
    throw error;
  }
}
