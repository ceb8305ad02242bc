import type { KubeObject } from '@asterism/machinery';
import { type AdmissionPlugin, type PluginContext, refusal } from './admission-plugin.ts';
import type { AdmissionRequest } from '../contract/admission-step.ts';

const RANGES = 'limitranges';

/** Gives containers the requests and limits that a namespace's LimitRanges say, and holds pods and claims to their bounds. */
export function limitRanger({ store }: PluginContext): AdmissionPlugin {
  return {
    resources: ['pods', 'persistentvolumeclaims'],
    async mutate(request) {
      const ranges = rangesFor(request);
      if (ranges.length === 0 || request.resource.type.resource !== 'pods' || request.object === undefined) return;
      const { setDefaultResources } = await import('./set-default-resources.ts');
      for (const range of ranges) setDefaultResources(request.object, range);
    },
    async validate(request) {
      const ranges = rangesFor(request);
      if (ranges.length === 0 || request.object === undefined) return;
      const { faultsByRange } = await import('./check-limit-range.ts');
      for (const range of ranges) {
        const faults = faultsByRange(request.object, request.resource.type.resource, range);
        if (faults.length > 0) throw refusal(request, faults.length === 1 ? faults[0]! : `[${faults.join(', ')}]`);
      }
    },
  };

  function rangesFor(request: AdmissionRequest): KubeObject[] {
    const ranges = store.cache(RANGES);
    if (ranges.size === 0 || !isLimited(request)) return [];
    const prefix = `${request.namespace ?? ''}/`;
    return [...ranges.entries(prefix, prefix)].map(([, stored]) => stored.parse());
  }
}

/** Containers change with a resize alone, once a pod is there; what is being deleted is left alone. */
function isLimited({ operation, resource, subresource, object }: AdmissionRequest): boolean {
  if (object === undefined || object.metadata?.deletionTimestamp !== undefined || operation === 'DELETE') return false;
  const isPod = resource.type.resource === 'pods';
  if (isPod && operation === 'UPDATE') return subresource === 'resize';
  return subresource === undefined;
}
