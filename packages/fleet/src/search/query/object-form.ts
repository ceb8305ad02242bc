import {
  formatApiVersion,
  type Json,
  type KubeObject,
  parseJson,
  type TableColumn,
  type TablePrinter,
} from '@asterism/machinery';
import type { StoredRow } from '@asterism/store';
import type { SearchableResource } from '../search-catalogue.ts';
import type { IncludeObject } from './parse-search-query.ts';

/** How rows are written: what stands around them and how one of them looks. */
export interface ObjectForm {
  /** Up to the bracket that opens the list. */
  head: string;
  /** The bytes of one element, in parts. */
  element(row: StoredRow): Uint8Array[];
  /** One object by itself. */
  single(row: StoredRow): Uint8Array[];
}

/** Objects as they are stored, byte for byte. */
export function plainForm(type: SearchableResource): ObjectForm {
  const list = { kind: `${type.kind}List`, apiVersion: formatApiVersion(type) };
  const element = ({ object }: StoredRow): Uint8Array[] => [object];
  return { head: `${JSON.stringify(list).slice(0, -1)},"items":[`, element, single: element };
}

export interface TableFormOptions {
  version: 'v1' | 'v1beta1';
  include: IncludeObject;
  /** Whether the rows are of several namespaces. */
  acrossNamespaces: boolean;
  /** Milliseconds since 1970, from which ages are told. */
  now: number;
}

/**
 * A table: the cluster, then the columns of the kind. As in every table of a Kubernetes server the namespace is in the object that
 * goes with a row, where clients (kubectl among them) take it from; only rows without one (`includeObject=None`) of several
 * namespaces have it in a column.
 */
export function tableForm(printer: TablePrinter, options: TableFormOptions): ObjectForm {
  const { include, now } = options;
  const apiVersion = `meta.k8s.io/${options.version}`;
  const hasNamespace = options.acrossNamespaces && include === 'None';
  const columnDefinitions = [CLUSTER, ...(hasNamespace ? [NAMESPACE] : []), ...printer.columns];
  const element = (row: StoredRow): Uint8Array[] => {
    const object = parseJson(Buffer.from(row.object).toString()) as KubeObject;
    const { cells: own, ...more } = printer.row(object, now);
    const cells: Json[] = [row.cluster, ...(hasNamespace ? [row.namespace] : []), ...own];
    const printed = { cells, ...more };
    if (include === 'Object') return [Buffer.from(`${openObject(printed)},"object":`), row.object, Buffer.from('}')];
    const metadata = object.metadata ?? {};
    const partial = include === 'None' ? null : { kind: 'PartialObjectMetadata', apiVersion, metadata };
    return [Buffer.from(JSON.stringify({ ...printed, object: partial }))];
  };
  const head = `${openObject({ kind: 'Table', apiVersion, columnDefinitions })},"rows":[`;
  const single = (row: StoredRow): Uint8Array[] => [
    Buffer.from(head),
    ...element(row),
    Buffer.from(`],"metadata":${JSON.stringify({ resourceVersion: row.resourceVersion })}}`),
  ];
  return { head, element, single };
}

const CLUSTER: TableColumn = {
  name: 'Cluster',
  type: 'string',
  format: '',
  description: 'The cluster that the object is of.',
  priority: 0,
};

const NAMESPACE: TableColumn = { ...CLUSTER, name: 'Namespace', description: 'The namespace that the object is in.' };

/** A JSON object to which members can be added. */
function openObject(value: object): string {
  return JSON.stringify(value).slice(0, -1);
}
