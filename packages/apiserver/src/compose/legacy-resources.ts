import { BUILTIN_RESOURCES, type KubeObject, type ResourceType, schemaOfKind } from '@asterism/machinery';
import { ServedVersion } from '../registry/served-version.ts';
import { builtinConversion, builtinStrategy } from './builtin-strategies.ts';
import { convertedStrategy } from './converted-strategy.ts';
import { endpointSliceV1Beta1 } from '../kinds/endpoint-slice/v1beta1.ts';
import { eventsV1 } from '../kinds/event/kind.ts';
import { podDisruptionBudgetV1Beta1 } from '../kinds/pod-disruption-budget/v1beta1.ts';
import type { ServiceAllocator } from '../kinds/service/service-allocator.ts';
import type { Conversion } from '../contract/conversion.ts';

interface LegacyVersion {
  group: string;
  version: string;
  kind: string;
  /** What the versions of today are stored as. */
  groupResource: string;
  conversion: Conversion;
  /** Fields have other names or places: the rules of the kind are asked about the stored form. */
  otherShape?: boolean;
  /** Where a DELETE by this version does otherwise than by today's. */
  defaultPropagation?: 'Orphan';
  /** Releases in which it came to be deprecated, and to be gone. */
  deprecated: string;
  removed: string;
}

/**
 * Versions that Kubernetes 1.36 no longer serves and that clients of 1.20 cannot do without:
 *
 * - `policy/v1beta1`: `kubectl create pdb`, `kubectl describe pdb`; kube-controller-manager and kube-scheduler
 * - `batch/v1beta1`: `kubectl create cronjob`, `kubectl describe cronjob`; kube-controller-manager
 * - `discovery.k8s.io/v1beta1`: `kubectl describe endpointslice`; kube-proxy and kube-controller-manager
 * - `autoscaling/v2beta2`: `kubectl describe hpa`, which without it shows of all metrics that of the CPU alone
 * - `events.k8s.io/v1beta1`: recorders of client-go before 0.19
 *
 * kubectl 1.20 asks for `networking.k8s.io/v1` first, so its `v1beta1` is not among them. They look for them in discovery before
 * they ask: the form that clients of 1.26 and newer ask for tells what 1.36 tells, the older form has them too.
 */
const LEGACY_VERSIONS: readonly LegacyVersion[] = [
  {
    group: 'autoscaling',
    version: 'v2beta2',
    kind: 'HorizontalPodAutoscaler',
    groupResource: 'horizontalpodautoscalers.autoscaling',
    conversion: renamed('autoscaling/v2beta2', 'autoscaling/v2'),
    deprecated: 'v1.23',
    removed: 'v1.26',
  },
  {
    group: 'batch',
    version: 'v1beta1',
    kind: 'CronJob',
    groupResource: 'cronjobs.batch',
    conversion: renamed('batch/v1beta1', 'batch/v1'),
    defaultPropagation: 'Orphan',
    deprecated: 'v1.21',
    removed: 'v1.25',
  },
  {
    group: 'discovery.k8s.io',
    version: 'v1beta1',
    kind: 'EndpointSlice',
    groupResource: 'endpointslices.discovery.k8s.io',
    conversion: endpointSliceV1Beta1,
    otherShape: true,
    deprecated: 'v1.21',
    removed: 'v1.25',
  },
  {
    group: 'events.k8s.io',
    version: 'v1beta1',
    kind: 'Event',
    groupResource: 'events',
    conversion: {
      fromStorage: (object) => ({ ...eventsV1.fromStorage(object), apiVersion: 'events.k8s.io/v1beta1' }),
      toStorage: eventsV1.toStorage,
    },
    deprecated: 'v1.19',
    removed: 'v1.25',
  },
  {
    group: 'policy',
    version: 'v1beta1',
    kind: 'PodDisruptionBudget',
    groupResource: 'poddisruptionbudgets.policy',
    conversion: podDisruptionBudgetV1Beta1,
    deprecated: 'v1.21',
    removed: 'v1.25',
  },
];

/** A version that says the same in the same words. */
function renamed(apiVersion: string, stored: string): Conversion {
  return {
    fromStorage: (object: KubeObject) => ({ ...object, apiVersion }),
    toStorage: (object: KubeObject) => ({ ...object, apiVersion: stored }),
  };
}

function isConverted({ group, version, resource }: ResourceType): boolean {
  return builtinConversion(`${group}/${version}/${resource}`) !== undefined;
}

/** Versions that are served beside those of today, to who asks for them. */
export function legacyResources(services: ServiceAllocator): ServedVersion[] {
  return LEGACY_VERSIONS.map((legacy) => servedLegacy(legacy, services));
}

function servedLegacy(legacy: LegacyVersion, services: ServiceAllocator): ServedVersion {
  const { group, version, kind, groupResource, conversion, otherShape } = legacy;
  const versions = BUILTIN_RESOURCES.filter((each) => each.group === group && each.kind === kind);
  const today = versions.find((each) => !isConverted(each)) ?? versions[0];
  if (!today) throw new Error(`${kind} of ${group} is not built in`);
  const { singular, verbs, shortNames, categories, subresources, ...type } = today;
  const { prepareForCreate, prepareForUpdate, ...common } = builtinStrategy(groupResource, services);
  const rules = legacy.defaultPropagation ? { ...common, defaultPropagation: legacy.defaultPropagation } : common;
  return new ServedVersion({
    type: { ...type, version },
    singular,
    verbs,
    shortNames,
    categories,
    subresources: subresources.map((each) => (each.group === group ? { ...each, version } : each)),
    storage: 'builtin',
    groupResource,
    conversion,
    // What the versions of today drop because only older ones can say it, is what is said here.
    strategy: otherShape
      ? convertedStrategy(rules, conversion)
      : { ...rules, ...(prepareForCreate && { prepareForCreate }), ...(prepareForUpdate && { prepareForUpdate }) },
    ...(otherShape ? {} : { schema: () => schemaOfKind(type)?.source, structural: () => schemaOfKind(type) }),
    warning: `${group}/${version} ${kind} is deprecated in ${legacy.deprecated}+, unavailable in ${legacy.removed}+; use ${group}/${type.version} ${kind}`,
  });
}
