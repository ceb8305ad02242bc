import type { TableColumn, TablePrinter } from '@asterism/machinery';
import type { StoredList, WatchItem } from '../../registry/registry.ts';
import type { Stored } from '../../contract/stored.ts';
import { encodeValue } from './answer.ts';
import { answerList } from './answer-list.ts';
import type { ApiResponse } from '../../contract/api-request.ts';
import { listHead } from './list-body.ts';
import { partialMetadata } from './metadata-representer.ts';
import { type Encoding, MEDIA_TYPE } from './negotiate.ts';
import type { IncludeObject, Representer } from './representer.ts';
import { watchLine } from './watch-line.ts';

export interface TableRepresenterOptions {
  apiVersion: string;
  encoding: Encoding;
  includeObject: IncludeObject;
  /** Milliseconds since 1970, from which ages are told. */
  clock: () => number;
}

/** Tables of `meta.k8s.io`, as JSON or YAML. */
export class TableRepresenter implements Representer {
  readonly watchType = MEDIA_TYPE.json;
  readonly #printer: TablePrinter;
  readonly #options: TableRepresenterOptions;

  constructor(printer: TablePrinter, options: TableRepresenterOptions) {
    this.#printer = printer;
    this.#options = options;
  }

  object(status: number, stored: Stored): Promise<ApiResponse> {
    return encodeValue(status, this.#table(stored, this.#printer.columns), this.#options.encoding);
  }

  async list(list: StoredList): Promise<ApiResponse> {
    const { compare, columns } = this.#printer;
    const items = compare ? list.items.toSorted((a, b) => compare(a.parse(), b.parse())) : list.items;
    const field = `"columnDefinitions":${JSON.stringify(columns)},"rows"`;
    const head = listHead('Table', this.#options.apiVersion, list, field);
    const item = (stored: Stored): Buffer => Buffer.from(JSON.stringify(this.#row(stored)));
    return await answerList(items, { head, opening: '', item }, this.#options.encoding);
  }

  watchLines(): Promise<(item: WatchItem) => Buffer> {
    let columns: readonly TableColumn[] | null = this.#printer.columns;
    const line = (item: WatchItem): Buffer =>
      watchLine(item, () => {
        const table = this.#table(item.object, columns);
        columns = null;
        return table;
      });
    return Promise.resolve(line);
  }

  #table(stored: Stored, columnDefinitions: readonly TableColumn[] | null) {
    const { apiVersion } = this.#options;
    const metadata = { resourceVersion: stored.resourceVersion };
    return { kind: 'Table', apiVersion, metadata, columnDefinitions, rows: [this.#row(stored)] };
  }

  #row(stored: Stored) {
    const { apiVersion, clock, includeObject } = this.#options;
    const object = stored.parse();
    const row = this.#printer.row(object, clock());
    if (includeObject === 'None') return { ...row, object: null };
    return { ...row, object: includeObject === 'Object' ? object : partialMetadata(stored, apiVersion) };
  }
}
