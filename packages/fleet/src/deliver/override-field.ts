import { applyMergePatch, type KubeObject, parseJsonPointer, valueAtPointer } from '@asterism/machinery';
import type { Overriders } from '../api/index.ts';
import { editJsonText, type TextEdit } from './edit-json-text.ts';
import type { YamlEditor } from './edit-yaml-text.ts';
import { applyOperation } from './override-operations.ts';
import { type Change, changed, failed, noEffect, type OverrideStep, patch } from './override-step.ts';

type FieldOverrider = NonNullable<Overriders['fieldOverrider']>[number];

/** Whether the overrider needs an editor of YAML. */
export function editsYaml({ yaml, yamlMergePatch }: FieldOverrider): boolean {
  return yaml !== undefined || yamlMergePatch !== undefined;
}

/**
 * Changes what the text at a field says, by operations of JSON Patch, then by a merge patch, and writes it back in the format that
 * it has. Texts of a Secret's `data` are those that their base64 stands for.
 */
export function overrideField(
  object: KubeObject,
  overrider: FieldOverrider,
  editYaml: YamlEditor | undefined,
): OverrideStep {
  const { fieldPath, json, jsonMergePatch } = overrider;
  const isYaml = editsYaml(overrider);
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
  const change = (value: unknown) => changeOf(value, overrider);
  const edited = isYaml ? editorOf(editYaml)(text, change) : editJsonText(text, change);
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

function editorOf(editYaml: YamlEditor | undefined): (text: string, change: (value: unknown) => Change) => TextEdit {
  if (!editYaml) throw new Error('a policy that edits YAML is applied without an editor of YAML');
  return editYaml;
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
