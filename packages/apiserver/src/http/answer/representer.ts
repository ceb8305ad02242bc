import type { StoredList, WatchItem } from '../../registry/registry.ts';
import type { Stored } from '../../contract/stored.ts';
import type { ApiResponse } from '../../contract/api-request.ts';

/** What of an object a Table carries beside its cells. */
export type IncludeObject = 'None' | 'Metadata' | 'Object';

/** Writes objects of one resource in one representation. */
export interface Representer {
  /** The content type of a watch. */
  readonly watchType: string;
  object(status: number, stored: Stored): Promise<ApiResponse>;
  list(list: StoredList): Promise<ApiResponse>;
  /** A new encoder for one watch: its first Table names the columns, later ones do not. */
  watchLines(): Promise<(item: WatchItem) => Buffer>;
}

/** Metadata of one object, or of many: each is refused with 406 where the answer is the other. */
export interface MetadataRequest {
  checkIsOne(): void;
  checkIsMany(): void;
}
