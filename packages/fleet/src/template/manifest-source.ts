import type { KubeObject } from '@asterism/machinery';
import type { Cluster } from '../api/index.ts';
import type { Binding } from './binding-client.ts';
import type { TemplateKey } from './template-key.ts';

/**
 * Makes the manifests that clusters get of a template. An object of the hub is usually its own only manifest. Other sources make
 * manifests of what a template names: a chart, for example, which is rendered for each cluster.
 *
 * A source copies nothing into the hub. Placement decides about the template, and delivery asks its source when it renders.
 */
export interface ManifestSource {
  /** Whether this source makes the manifests of that template. */
  serves(template: KubeObject): boolean;
  /**
   * Prepares what is the same for all clusters. The first manifest of a cluster is the one whose status the template gets. Overrides
   * are applied to all of them afterwards.
   *
   * @returns a function that makes the manifests of one cluster. If it rejects, every cluster keeps what it has, and the template is
   *   delivered again later.
   */
  prepare(template: KubeObject, binding: Binding): (cluster: Cluster) => Promise<readonly KubeObject[]>;
  /** Calls `changed` with each template whose manifests have changed although the template has not. Ends with the signal. */
  follow?(changed: (template: TemplateKey) => void, signal: AbortSignal): void;
}
