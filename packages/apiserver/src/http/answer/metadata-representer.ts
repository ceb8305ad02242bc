import type { KubeObject, ObjectMeta } from '@asterism/machinery';
import type { StoredList, WatchItem } from '../../registry/registry.ts';
import type { Stored } from '../../contract/stored.ts';
import { encodeValue } from './answer.ts';
import { answerList } from './answer-list.ts';
import type { ApiResponse } from '../../contract/api-request.ts';
import { listHead, listMeta } from './list-body.ts';
import { type Encoding, MEDIA_TYPE } from './negotiate.ts';
import type { MetadataRequest, Representer } from './representer.ts';
import { watchLine } from './watch-line.ts';

/** `PartialObjectMetadata(List)` as JSON or YAML. */
export class MetadataRepresenter implements Representer {
  readonly watchType = MEDIA_TYPE.json;
  readonly #apiVersion: string;
  readonly #encoding: Encoding;
  readonly #request: MetadataRequest;

  constructor(apiVersion: string, encoding: Encoding, request: MetadataRequest) {
    this.#apiVersion = apiVersion;
    this.#encoding = encoding;
    this.#request = request;
  }

  object(status: number, stored: Stored): Promise<ApiResponse> {
    this.#request.checkIsOne();
    return encodeValue(status, partialMetadata(stored, this.#apiVersion), this.#encoding);
  }

  async list(list: StoredList): Promise<ApiResponse> {
    this.#request.checkIsMany();
    if (list.items.length === 0) return await encodeValue(200, emptyList(this.#apiVersion, list), this.#encoding);
    const head = listHead('PartialObjectMetadataList', this.#apiVersion, list);
    const item = (stored: Stored): Buffer => Buffer.from(JSON.stringify(partialMetadata(stored, this.#apiVersion)));
    return await answerList(list.items, { head, opening: '', item }, this.#encoding);
  }

  watchLines(): Promise<(item: WatchItem) => Buffer> {
    return Promise.resolve((item) => watchLine(item, () => partialMetadata(item.object, this.#apiVersion)));
  }
}

/** Upstream makes this list of what it converted: of nothing, it is no list at all. */
function emptyList(apiVersion: string, list: StoredList) {
  return { kind: 'PartialObjectMetadataList', apiVersion, metadata: listMeta(list), items: null };
}

export function partialMetadata(stored: Stored, apiVersion: string): KubeObject {
  const { metadata = {} } = stored.parse();
  return { kind: 'PartialObjectMetadata', apiVersion, metadata: withoutVersionAnnotations(metadata) };
}

/**
 * Annotations in which one version of a kind carries what only another has a field for. Upstream takes an object's metadata
 * before it turns the object into the version that was asked for.
 */
const VERSION_ANNOTATIONS: ReadonlySet<string> = new Set([
  'autoscaling.alpha.kubernetes.io/behavior',
  'autoscaling.alpha.kubernetes.io/conditions',
  'autoscaling.alpha.kubernetes.io/current-metrics',
  'autoscaling.alpha.kubernetes.io/metrics',
  'deprecated.daemonset.template.generation',
  'deprecated.deployment.rollback.rollbackTo',
]);

function withoutVersionAnnotations(metadata: ObjectMeta): ObjectMeta {
  const entries = Object.entries(metadata.annotations ?? {});
  const kept = entries.filter(([name]) => !VERSION_ANNOTATIONS.has(name));
  if (kept.length === entries.length) return metadata;
  const { annotations: _, ...rest } = metadata;
  return kept.length === 0 ? rest : { ...metadata, annotations: Object.fromEntries(kept) };
}
