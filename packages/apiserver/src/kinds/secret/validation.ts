import {
  type FieldError,
  fieldRequired,
  isJsonObject,
  jsonKindOf,
  jsonSyntaxFault,
  type KubeObject,
  parseJson,
} from '@asterism/machinery';
import { bytesOf, validateDataKey, validateDataSize } from '../config-map/data-keys.ts';
import { type Fields, optionalFields, textAt } from '../fields/draft-fields.ts';
import { invalidValue } from '../../registry/invalid-value.ts';

const ACCOUNT_NAME = 'kubernetes.io/service-account.name';

export function validateSecret(object: KubeObject): FieldError[] {
  const data = optionalFields(object, 'data') ?? {};
  return [
    ...Object.keys(data).flatMap((key) => validateDataKey(key, 'data')),
    ...validateDataSize(bytesOf(data, 'base64'), 'data'),
    ...validateByType(object, data),
  ];
}

function validateByType({ type, metadata }: KubeObject, data: Fields): FieldError[] {
  const missing = (...keys: string[]): FieldError[] =>
    keys.filter((key) => !Object.hasOwn(data, key)).map((key) => fieldRequired(`data[${key}]`));
  switch (type) {
    case 'kubernetes.io/service-account-token':
      return metadata?.annotations?.[ACCOUNT_NAME] ? [] : [fieldRequired(`metadata.annotations[${ACCOUNT_NAME}]`)];
    case 'kubernetes.io/dockercfg':
      return [...missing('.dockercfg'), ...validateJson(data, '.dockercfg')];
    case 'kubernetes.io/dockerconfigjson':
      return [...missing('.dockerconfigjson'), ...validateJson(data, '.dockerconfigjson')];
    case 'kubernetes.io/basic-auth':
      return data.username === undefined && data.password === undefined ? missing('username', 'password') : [];
    case 'kubernetes.io/ssh-auth':
      return data['ssh-privatekey'] ? [] : [fieldRequired('data[ssh-privatekey]')];
    case 'kubernetes.io/tls':
      return missing('tls.crt', 'tls.key');
    default:
      return [];
  }
}

function validateJson(data: Fields, key: string): FieldError[] {
  if (data[key] === undefined) return [];
  const fault = jsonObjectFault(Buffer.from(textAt(data, key), 'base64').toString());
  return fault === undefined ? [] : [invalidValue(`data[${key}]`, '<secret contents redacted>', fault)];
}

/** Why a text is no JSON object, in the words of Go's decoder; undefined where it is one. */
function jsonObjectFault(text: string): string | undefined {
  let value: unknown;
  try {
    value = parseJson(text);
  } catch {
    return jsonSyntaxFault(text);
  }
  if (value === null || isJsonObject(value)) return undefined;
  return `json: cannot unmarshal ${jsonKindOf(value)} into Go value of type map[string]interface {}`;
}
