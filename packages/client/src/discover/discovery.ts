import type { GroupVersionKind, ResourceType } from '@asterism/machinery';

export interface DiscoveredSubresource {
  /** `status`, `scale`, `log`. */
  name: string;
  /** What it takes and gives, where that is told. */
  responseKind: GroupVersionKind | undefined;
  verbs: readonly string[];
}

/** A kind as the server describes it; usable wherever a `ResourceType` is asked for. */
export interface DiscoveredResource extends ResourceType {
  singular: string;
  verbs: readonly string[];
  shortNames: readonly string[];
  categories: readonly string[];
  subresources: readonly DiscoveredSubresource[];
  /** Of the versions of its group, the one that the server prefers and that has this resource. */
  preferred: boolean;
}

/** What an API server serves. Read once and kept; asked again (by ETag, where there is one) when something is missing. */
export interface Discovery {
  /** Every resource of every version, in the server's order of groups and versions. */
  resources(): Promise<readonly DiscoveredResource[]>;
  /** Rejects with a 404 `StatusError` ("no matches for kind …") when there is none. */
  typeFor(kind: { apiVersion?: string | undefined; kind?: string | undefined }): Promise<ResourceType>;
  /** As kubectl reads a word: `deploy`, `deployments`, `Deployment`, `deployments.apps`, `deployments.v1.apps`. */
  find(word: string): Promise<DiscoveredResource>;
  /** The next call asks the server. */
  refresh(): void;
}
