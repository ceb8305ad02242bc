import type { StoredList, WatchItem } from '../../registry/registry.ts';
import type { Stored } from '../../contract/stored.ts';
import { answerBytes, encodeValue } from './answer.ts';
import { answerList } from './answer-list.ts';
import type { ApiResponse } from '../../contract/api-request.ts';
import { plainList } from './list-body.ts';
import { type Encoding, MEDIA_TYPE } from './negotiate.ts';
import type { Representer } from './representer.ts';
import type { ServedResource } from '../../contract/served-resource.ts';

/** Objects as they are, as JSON or YAML. */
export class PlainRepresenter implements Representer {
  readonly watchType = MEDIA_TYPE.json;
  readonly #resource: ServedResource;
  readonly #encoding: Encoding;

  constructor(resource: ServedResource, encoding: Encoding) {
    this.#resource = resource;
    this.#encoding = encoding;
  }

  object(status: number, stored: Stored): Promise<ApiResponse> {
    if (this.#encoding === 'yaml') return encodeValue(status, stored.parse(), 'yaml');
    return Promise.resolve(answerBytes(status, stored.bytes));
  }

  async list(list: StoredList): Promise<ApiResponse> {
    return await answerList(list.items, plainList(this.#resource, list), this.#encoding);
  }

  watchLines(): Promise<(item: WatchItem) => Buffer> {
    return Promise.resolve((item) => item.line());
  }
}
