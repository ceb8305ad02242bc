import { formatGroupResource, type ResourceType } from '@asterism/machinery';
import type { AdmissionPlugin, PluginContext } from './admission-plugin.ts';
import { alwaysPullImages } from './always-pull-images.ts';
import { defaultIngressClass } from './default-ingress-class.ts';
import { defaultStorageClass } from './default-storage-class.ts';
import { defaultTolerationSeconds } from './default-toleration-seconds.ts';
import { denyServiceExternalIps } from './deny-service-external-ips.ts';
import { extendedResourceToleration } from './extended-resource-toleration.ts';
import { limitRanger } from './limit-ranger.ts';
import { persistentVolumeClaimResize } from './persistent-volume-claim-resize.ts';
import { type AdmissionPluginChoice, isPluginEnabled, type PluginName } from './plugin-names.ts';
import { podTopologyLabels } from './pod-topology-labels.ts';
import { priority } from './priority.ts';
import { runtimeClass } from './runtime-class.ts';
import { serviceAccount } from './service-account.ts';
import { storageObjectInUseProtection } from './storage-object-in-use-protection.ts';
import { taintNodesByCondition } from './taint-nodes-by-condition.ts';
import type { AdmissionRequest, AdmissionStep } from '../contract/admission-step.ts';

/** In upstream's order. Webhooks and quotas come after them, and are not among them. */
const PLUGINS: readonly (readonly [name: PluginName, create: (context: PluginContext) => AdmissionPlugin])[] = [
  ['LimitRanger', limitRanger],
  ['ServiceAccount', serviceAccount],
  ['TaintNodesByCondition', taintNodesByCondition],
  ['AlwaysPullImages', alwaysPullImages],
  ['PodTopologyLabels', podTopologyLabels],
  ['Priority', priority],
  ['DefaultTolerationSeconds', defaultTolerationSeconds],
  ['ExtendedResourceToleration', extendedResourceToleration],
  ['DefaultStorageClass', defaultStorageClass],
  ['StorageObjectInUseProtection', storageObjectInUseProtection],
  ['PersistentVolumeClaimResize', persistentVolumeClaimResize],
  ['RuntimeClass', runtimeClass],
  ['DefaultIngressClass', defaultIngressClass],
  ['DenyServiceExternalIPs', denyServiceExternalIps],
];

/** The plugins that are chosen, as one step that mutates and one that validates. */
export function createAdmissionPlugins(context: PluginContext, choice?: AdmissionPluginChoice): AdmissionStep[] {
  const plugins = PLUGINS.filter(([name]) => isPluginEnabled(choice, name)).map(([, create]) => create(context));
  const step = (phase: 'mutate' | 'validate'): AdmissionStep => {
    const pluginsOf = pluginsByType(plugins.filter((plugin) => plugin[phase] !== undefined));
    return {
      phase,
      async admit(request: AdmissionRequest) {
        for (const plugin of pluginsOf(request.resource.type)) await plugin[phase]?.(request);
        return request.object;
      },
    };
  };
  return [step('mutate'), step('validate')];
}

const NONE: readonly AdmissionPlugin[] = [];

/** Most writes are of resources that no plugin looks at: for these there is one question to a map. */
function pluginsByType(plugins: readonly AdmissionPlugin[]): (type: ResourceType) => readonly AdmissionPlugin[] {
  const byResource = new Map<string, AdmissionPlugin[]>();
  for (const plugin of plugins) {
    for (const resource of plugin.resources) byResource.set(resource, [...(byResource.get(resource) ?? []), plugin]);
  }
  const byType = new WeakMap<ResourceType, readonly AdmissionPlugin[]>();
  return (type) => {
    let found = byType.get(type);
    if (found === undefined) byType.set(type, (found = byResource.get(formatGroupResource(type)) ?? NONE));
    return found;
  };
}
