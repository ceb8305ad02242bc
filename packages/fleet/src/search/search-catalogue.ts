import type { DiscoveredResource } from '@asterism/client';
import {
  BUILTIN_RESOURCES,
  builtinPrinter,
  type CustomResourceDefinition,
  customResourcePrinter,
  type GroupVersionResource,
  isStatusError,
  type ResourceType,
  type TablePrinter,
} from '@asterism/machinery';

type PrinterColumns = CustomResourceDefinition['spec']['versions'][number]['additionalPrinterColumns'];

/** A resource that can be searched, as discovery describes it. */
export type SearchableResource = Pick<
  DiscoveredResource,
  'group' | 'version' | 'resource' | 'kind' | 'namespaced' | 'singular' | 'shortNames' | 'categories'
>;

/** Objects that search does not keep. */
export interface NotKept {
  /** Names of objects that are nested too deeply. */
  skipped: readonly string[];
  /** The cluster reached its share of the store. */
  overShare: boolean;
}

/** What is known of one cluster. */
export interface ClusterIndex {
  indexed: readonly SearchableResource[];
  /** Of custom resources: the columns that their definition names. */
  columns?: ((type: GroupVersionResource) => PrinterColumns) | undefined;
  /** What of a resource is missing though the resource is indexed. */
  notKept?: ((type: GroupVersionResource) => NotKept) | undefined;
  /** Whether what is stored of it follows it at this moment; otherwise it may be old. */
  isFollowed: () => boolean;
}

/**
 * What there is to search, as far as this process knows: the clusters, what is indexed of each, and how kinds look in a table. In
 * memory: whoever follows the clusters writes it, whoever answers queries reads it.
 */
export class SearchCatalogue {
  readonly #clusters = new Map<string, ClusterIndex>();

  set(cluster: string, index: ClusterIndex): void {
    this.#clusters.set(cluster, index);
  }

  delete(cluster: string): void {
    this.#clusters.delete(cluster);
  }

  get(cluster: string): ClusterIndex | undefined {
    return this.#clusters.get(cluster);
  }

  /** In order of their names. */
  clusters(): string[] {
    return [...this.#clusters.keys()].sort();
  }

  /** Every resource that is indexed of any cluster, once, by group, version and name. */
  resources(): SearchableResource[] {
    const found = new Map<string, SearchableResource>();
    for (const { indexed } of this.#clusters.values()) for (const each of indexed) found.set(keyOf(each), each);
    return [...found].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, resource]) => resource);
  }

  /** What discovery says of a resource: of one that is indexed somewhere, or built into Kubernetes. */
  describe(type: GroupVersionResource): SearchableResource | undefined {
    for (const { indexed } of this.#clusters.values()) {
      const found = indexed.find((candidate) => isSame(candidate, type));
      if (found) return found;
    }
    return BUILTIN_RESOURCES.find((candidate) => isSame(candidate, type));
  }

  /** Of these clusters (absent: of all), the ones that do not index the resource. */
  notIndexing(type: GroupVersionResource, clusters = this.clusters()): string[] {
    return clusters.filter((name) => !this.#clusters.get(name)?.indexed.some((candidate) => isSame(candidate, type)));
  }

  /** Of these clusters (absent: of all), the ones of which what is stored may be old. */
  notFollowed(clusters = this.clusters()): string[] {
    return clusters.filter((name) => !this.#clusters.get(name)?.isFollowed());
  }

  /**
   * The columns of a kind; of a custom resource those of the first cluster, by name, that is known to define it. Columns that
   * cannot be read are no reason to show nothing.
   */
  printerFor(type: ResourceType): TablePrinter {
    for (const name of this.clusters()) {
      const columns = this.#clusters.get(name)?.columns?.(type);
      const printer = columns && readablePrinter(columns);
      if (printer) return printer;
    }
    return builtinPrinter(type);
  }
}

function readablePrinter(columns: PrinterColumns): TablePrinter | undefined {
  try {
    return customResourcePrinter(columns);
  } catch (error) {
    if (isStatusError(error)) return undefined;
    throw error;
  }
}

function keyOf({ group, version, resource }: GroupVersionResource): string {
  return `${group}/${version}/${resource}`;
}

function isSame(a: GroupVersionResource, b: GroupVersionResource): boolean {
  return a.resource === b.resource && a.group === b.group && a.version === b.version;
}
