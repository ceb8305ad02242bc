import { type KubeObject, parseJsonPointer, type Steps, valueAtPointer, withoutTrailing } from '@asterism/machinery';
import type { Overriders } from '../../api/index.ts';
import { changed, failed, noEffect, type OverrideStep, patch } from './override-step.ts';
import type { OverrideTexts } from './override-texts.ts';
import { isForYaml } from './text-editor.ts';

type FieldOverrider = NonNullable<Overriders['fieldOverrider']>[number];

/**
 * Changes what the text at a field says, by operations of JSON Patch, then by a merge patch, and writes it back in the format that
 * it has. Texts of a Secret's `data` are those that their base64 stands for.
 */
export async function overrideField(
  object: KubeObject,
  overrider: FieldOverrider,
  texts: OverrideTexts,
): Promise<OverrideStep | Steps<OverrideStep>> {
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
  const edited = await texts.edit(text, overrider);
  if ('fault' in edited) return failed(object, `the text at ${fieldPath}: ${edited.fault}`);
  const value = isBase64 ? Buffer.from(edited.text).toString('base64') : edited.text;
  return withText(object, fieldPath, value);
}

function* withText(object: KubeObject, path: string, value: string): Steps<OverrideStep> {
  return changed(object, yield* patch(object, [{ op: 'replace', path, value }]));
}

function decodeBase64(field: string): string | undefined {
  const bytes = Buffer.from(field, 'base64');
  if (withoutTrailing(bytes.toString('base64'), '=') !== withoutTrailing(field, '=')) return undefined;
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (error) {
    if (error instanceof TypeError) return undefined;
    throw error;
  }
}
