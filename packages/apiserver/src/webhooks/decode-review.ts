import { isJsonObject, jsonKindOf } from '@asterism/machinery';
import { decodeJson } from '../http/body/decode-body.ts';
import { ReviewFault } from './admission-review.ts';

const GO_TYPES: Readonly<Record<string, { is: (value: unknown) => boolean; go: string }>> = {
  text: { is: (value) => typeof value === 'string', go: 'string' },
  flag: { is: (value) => typeof value === 'boolean', go: 'bool' },
  status: { is: isJsonObject, go: 'v1.Status' },
  texts: { is: (value) => Array.isArray(value) && value.every((each) => typeof each === 'string'), go: '[]string' },
  textMap: {
    is: (value) => isJsonObject(value) && Object.values(value).every((each) => typeof each === 'string'),
    go: 'map[string]string',
  },
};

const RESPONSE_FIELDS: Readonly<Record<string, keyof typeof GO_TYPES>> = {
  uid: 'text',
  allowed: 'flag',
  status: 'status',
  patch: 'text',
  patchType: 'text',
  auditAnnotations: 'textMap',
  warnings: 'texts',
};

/**
 * The document of a webhook's answer: an object whose fields have the types of an AdmissionReview (absent ones are absent).
 * Throws a {@link ReviewFault} in the words of upstream's decoder for all else.
 */
export function decodeReview(body: string): Record<string, unknown> {
  const document = parse(body);
  if (!isJsonObject(document)) throw notAKind(document);
  for (const field of ['kind', 'apiVersion']) requireType(document[field], 'text', `.${field}`);
  requireKnownKind(document as { kind?: string; apiVersion?: string });
  const { response } = document;
  if (response === undefined || response === null) return document;
  if (!isJsonObject(response)) throw cannotUnmarshal(response, 'AdmissionReview.response', 'v1.AdmissionResponse');
  for (const [field, type] of Object.entries(RESPONSE_FIELDS)) {
    requireType(response[field], type, `AdmissionResponse.response.${field}`);
  }
  requireBase64(response['patch']);
  return document;
}

function parse(body: string): unknown {
  // What does not look like JSON upstream takes for YAML, of which nearly everything is a text.
  if (!/^\s*[{[]/.test(body)) throw notAKind(body);
  try {
    return decodeJson(body).value;
  } catch (error) {
    throw new ReviewFault(`couldn't get version/kind; json parse error: ${(error as Error).message}`, { cause: error });
  }
}

function notAKind(document: unknown): ReviewFault {
  const type =
    'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }';
  return new ReviewFault(
    `couldn't get version/kind; json parse error: json: cannot unmarshal ${jsonKindOf(document)} into Go value of type ${type}`,
  );
}

/** Without a kind it is taken for what it should be. */
function requireKnownKind({ kind, apiVersion }: { kind?: string; apiVersion?: string }): void {
  if (!kind || !apiVersion || KNOWN_KINDS.has(`${apiVersion} ${kind}`)) return;
  const where = `version ${JSON.stringify(apiVersion)} in scheme "k8s.io/apiserver/pkg/util/webhook/client.go:71"`;
  throw new ReviewFault(`no kind ${JSON.stringify(kind)} is registered for ${where}`);
}

const KNOWN_KINDS = new Set([
  'admission.k8s.io/v1 AdmissionReview',
  'admission.k8s.io/v1beta1 AdmissionReview',
  'v1 Status',
]);

function requireType(value: unknown, type: keyof typeof GO_TYPES, field: string): void {
  if (value === undefined || value === null) return;
  const { is, go } = GO_TYPES[type]!;
  if (!is(value)) throw cannotUnmarshal(value, field, go);
}

function cannotUnmarshal(value: unknown, field: string, type: string): ReviewFault {
  return new ReviewFault(`json: cannot unmarshal ${jsonKindOf(value)} into Go struct field ${field} of type ${type}`);
}

const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

function requireBase64(value: unknown): void {
  if (typeof value !== 'string') return;
  const text = value.replaceAll(/[\r\n]/g, '');
  if (BASE64.test(text)) return;
  const at = /[^A-Za-z0-9+/]/.exec(text)?.index ?? text.length;
  throw new ReviewFault(`illegal base64 data at input byte ${at}`);
}
