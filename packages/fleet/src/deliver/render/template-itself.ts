import type { KubeObject } from '@asterism/machinery';
import { strategyOf } from '../../place/divide-replicas.ts';
import type { ManifestSource } from '../../template/manifest-source.ts';
import { withoutAllocatedPorts } from './node-ports.ts';
import { pruneTemplate } from './prune-template.ts';
import { reviseReplicas } from './revise-replicas.ts';

/** The source of ordinary templates: the only manifest is the template itself, pruned, with the cluster's share of the replicas. */
export const TEMPLATE_ITSELF: ManifestSource = {
  serves: () => true,
  prepare(template, { spec }) {
    const pruned = pruneTemplate(withoutAllocatedPorts(template));
    const { clusters = [], placement } = spec;
    const divided = strategyOf(placement?.replicaScheduling).type !== 'Duplicated';
    return async ({ metadata }): Promise<readonly KubeObject[]> => {
      const share = { cluster: metadata.name ?? '', clusters, divided, uid: template.metadata?.uid };
      return [reviseReplicas(pruned, share)];
    };
  },
};
