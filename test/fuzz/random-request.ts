import type { KubeObject, Protobuf } from '@asterism/machinery';
import type { Draw } from '../soak/draw.ts';
import { SOUND_OBJECTS, type SoundObject } from './sound-objects.ts';
import { spoilBytes } from './spoil-bytes.ts';
import { spoilValue } from './spoil-value.ts';

export interface FuzzRequest {
  method: string;
  path: string;
  headers: Record<string, string>;
  body: Buffer | undefined;
}

const NAMES = 40;
const JSON_TYPE = 'application/json';
const YAML_TYPE = 'application/yaml';
const PROTOBUF_TYPE = 'application/vnd.kubernetes.protobuf';
const PATCH_TYPES = [
  'application/json-patch+json',
  'application/merge-patch+json',
  'application/strategic-merge-patch+json',
  'application/apply-patch+yaml',
];
const ODD_TYPES = [
  '',
  'text/plain',
  'application/cbor',
  'a/b/c',
  'application/json;;',
  '*/*',
  'application/xml',
  'x'.repeat(500),
];
const ACCEPTS = [
  JSON_TYPE,
  YAML_TYPE,
  PROTOBUF_TYPE,
  'application/json;as=Table;v=v1;g=meta.k8s.io',
  'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io',
  ...ODD_TYPES,
];
const QUERIES = [
  'dryRun=All',
  'dryRun=Some',
  'fieldValidation=Strict',
  'fieldValidation=Odd',
  'fieldManager=fuzz',
  `fieldManager=${'m'.repeat(200)}`,
  'force=true',
  'force=maybe',
  'limit=-1',
  'limit=1',
  'continue=AAAA',
  'continue=eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6MX0',
  'resourceVersion=abc',
  'resourceVersion=1',
  'resourceVersionMatch=Exact',
  'resourceVersionMatch=Odd',
  'labelSelector=a%20in%20(',
  'labelSelector=a%3Db%2Cc!%3Dd',
  'fieldSelector=metadata.name%3Dx',
  'fieldSelector=%3D%3D',
  'gracePeriodSeconds=-1',
  'propagationPolicy=Odd',
  'timeoutSeconds=1',
  'pretty=true',
  '%00=%ff',
  'a'.repeat(3_000),
];
const ODD_PATHS = [
  '%00',
  '%2e%2e%2f',
  '%ff',
  '//',
  '/../..',
  `/${'p'.repeat(5_000)}`,
  '/status',
  '/scale',
  '/log',
  '/nothing',
];

/** One request of the kind that a broken or hostile client makes; now and then one that is sound. */
export function randomRequest(draw: Draw, protobuf: Protobuf): FuzzRequest {
  const kind = draw.pick(SOUND_OBJECTS);
  const method = draw.pick(['POST', 'POST', 'PUT', 'PATCH', 'PATCH', 'PATCH', 'DELETE', 'GET']);
  const name = kind.object.metadata?.name ?? `fuzz-${draw.int(1, NAMES)}`;
  const { type, body } = bodyOf(draw, { kind, name, method, protobuf });
  const path =
    method === 'POST' ? kind.path : method === 'GET' && draw.chance(0.5) ? kind.path : `${kind.path}/${name}`;
  const headers: Record<string, string> = { accept: draw.chance(0.5) ? JSON_TYPE : draw.pick(ACCEPTS) };
  if (type !== undefined) headers['content-type'] = draw.chance(0.05) ? draw.pick(ODD_TYPES) : type;
  if (draw.chance(0.1)) headers['accept-encoding'] = 'gzip';
  return { method, path: spoilPath(draw, path), headers, body };
}

interface BodyOf {
  kind: SoundObject;
  name: string;
  method: string;
  protobuf: Protobuf;
}

function bodyOf(draw: Draw, of: BodyOf): { type?: string; body: Buffer | undefined } {
  if (of.method === 'GET') return { body: undefined };
  if (of.method === 'DELETE') {
    const options = { kind: 'DeleteOptions', apiVersion: 'v1', gracePeriodSeconds: 0, preconditions: { uid: 'x' } };
    return draw.chance(0.6)
      ? { body: undefined }
      : { type: JSON_TYPE, body: spoilBytes(draw, Buffer.from(JSON.stringify(options))) };
  }
  const sound: KubeObject = { ...of.kind.object, metadata: { name: of.name, labels: { fuzz: 'yes' } } };
  const object = draw.chance(0.7) ? (spoilValue(draw, sound) as KubeObject) : sound;
  if (of.method === 'PATCH') return patchOf(draw, object);
  const encoded = encode(draw, object, of);
  return { type: encoded.type, body: draw.chance(0.5) ? spoilBytes(draw, encoded.body) : encoded.body };
}

function patchOf(draw: Draw, object: KubeObject): { type: string; body: Buffer } {
  const type = draw.pick(PATCH_TYPES);
  const patch =
    type === PATCH_TYPES[0]
      ? Array.from({ length: draw.int(0, 5) }, () => ({
          op: draw.pick(['add', 'remove', 'replace', 'test', 'move', 'copy', 'odd']),
          path: draw.pick([
            '/spec',
            '/data/a',
            '/metadata/name',
            '/spec/replicas',
            '',
            '/~2',
            '/metadata/labels/-',
            'x',
          ]),
          from: draw.pick(['/spec', '/data', '/nothing']),
          value: spoilValue(draw, object),
        }))
      : object;
  const body = Buffer.from(JSON.stringify(patch));
  return { type, body: draw.chance(0.3) ? spoilBytes(draw, body) : body };
}

function encode(draw: Draw, object: KubeObject, { kind, protobuf }: BodyOf): { type: string; body: Buffer } {
  const way = draw.next();
  if (way < 0.4 && kind.builtin) {
    try {
      return { type: PROTOBUF_TYPE, body: Buffer.from(protobuf.encode(object)) };
    } catch {
      // A value that its message cannot hold is sent as JSON.
    }
  }
  // What is JSON is YAML too.
  return { type: way < 0.7 ? JSON_TYPE : YAML_TYPE, body: Buffer.from(JSON.stringify(object)) };
}

function spoilPath(draw: Draw, path: string): string {
  const odd = draw.chance(0.05) ? `${path}${draw.pick(ODD_PATHS)}` : path;
  return draw.chance(0.3) ? `${odd}?${draw.pick(QUERIES)}&${draw.pick(QUERIES)}` : odd;
}
