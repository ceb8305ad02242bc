import { formatQuantity, type PodSpec } from '@asterism/machinery';
import { type Fields, fieldsAt, listAt, optionalFields, setDefaults } from '../fields/draft-fields.ts';
import { defaultPodSpec } from '../pod-spec/pod-spec-defaults.ts';
import { aggregateResources } from '../pod-spec/pod-resources.ts';
import { isHugePages } from '../pod-spec/resource-names.ts';

/** What a pod gets, besides what a template of pods does (`SetDefaults_Pod`). */
export function defaultPod(spec: Fields): void {
  defaultPodSpec(spec);
  for (const key of ['containers', 'initContainers']) {
    for (const container of listAt(spec, key)) {
      requestLimits(container);
      if (spec.hostNetwork === true) exposePorts(container);
    }
  }
  const resources = optionalFields(spec, 'resources');
  if (resources) defaultPodResources(spec, resources);
  setDefaults(spec, { enableServiceLinks: true });
  if (typeof spec.terminationGracePeriodSeconds === 'number' && spec.terminationGracePeriodSeconds < 0) {
    spec.terminationGracePeriodSeconds = 1;
  }
}

/** What is limited is requested, where nothing is said of it. */
function requestLimits(container: Fields): void {
  const resources = optionalFields(container, 'resources');
  const limits = optionalFields(resources, 'limits');
  if (!resources || !limits) return;
  const requests = fieldsAt(resources, 'requests');
  for (const [name, limit] of Object.entries(limits)) requests[name] ??= limit;
}

/** On the network of its node a container's ports are those of the node. */
function exposePorts(container: Fields): void {
  for (const port of listAt(container, 'ports')) {
    if (!port.hostPort && port.containerPort) port.hostPort = port.containerPort;
  }
}

/** A pod that says some of what it takes as a whole has the rest from its containers. */
function defaultPodResources(spec: Fields, resources: Fields): void {
  const pod = spec as unknown as PodSpec;
  for (const [name, limit] of aggregateResources(pod, 'limits')) {
    if (isHugePages(name)) setDefaults(fieldsAt(resources, 'limits'), { [name]: formatQuantity(limit) });
  }
  const limits = optionalFields(resources, 'limits');
  if (!limits) return;
  const requests: Fields = { ...optionalFields(resources, 'requests') };
  for (const [name, request] of aggregateResources(pod, 'requests')) {
    if (name === 'cpu' || name === 'memory') setDefaults(requests, { [name]: formatQuantity(request) });
  }
  for (const [name, limit] of Object.entries(limits)) {
    if (name === 'cpu' || name === 'memory' || isHugePages(name)) setDefaults(requests, { [name]: limit });
  }
  if (Object.keys(requests).length > 0) resources.requests = requests;
}
