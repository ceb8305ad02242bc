import type { KubeObject } from '@asterism/machinery';
import {
  type Clock,
  createController,
  generationChanged,
  type Manager,
  type Predicate,
  systemClock,
} from '@asterism/runtime';
import {
  CLUSTER_OVERRIDE_POLICIES,
  CLUSTER_RESOURCE_BINDINGS,
  clusterNamespace,
  CLUSTERS,
  type ClusterOverridePolicy,
  type ClusterResourceBinding,
  OVERRIDE_POLICIES,
  type OverridePolicy,
  RESOURCE_BINDINGS,
  type ResourceBinding,
  WORKS,
  type Work,
} from '../api/index.ts';
import { type Binding, bindingRequest } from '../template/binding-client.ts';
import type { ManifestSource } from '../template/manifest-source.ts';
import { Templates } from '../template/templates.ts';
import { suitabilityChanged } from '../place/cluster-changes.ts';
import { presenceChanged } from './cluster-away.ts';
import { DeliveryView } from './delivery-view.ts';
import { FollowersFirst } from './followers-first.ts';
import { mayGo, releaseWork, wishOrEndChanged } from './release-works.ts';
import { Coalescer, SUMMARIES } from './report/coalescer.ts';
import { reconcileStatus, statusKey } from './status-controller.ts';
import { reconcileWorks } from './works-controller.ts';

export interface DeliveryOptions {
  /** For how long changes of status are gathered before one write, in ms. Default 100. */
  coalesceMs?: number | undefined;
  /** For how long while a cluster has not answered to the last change, or a rollout is under way, in ms. Default 1500. */
  patienceMs?: number | undefined;
  clock?: Clock | undefined;
  /** Shared with placement. Default: templates that are objects of `manager.local`. */
  templates?: Templates | undefined;
  /** Make the manifests of some templates. A template that none of them serves is its own manifest. */
  sources?: readonly ManifestSource[] | undefined;
}

const specChanged = { predicates: [generationChanged] };

/** A Work that begins to go is missed when it is gone. */
const wishChanged: Predicate<Work> = {
  update: (before, { metadata }) =>
    before.metadata.generation !== metadata.generation && metadata.deletionTimestamp === undefined,
};

/** Adds the controllers between a binding and its Works: decisions go down as manifests, status comes up. For the hub. */
export function addDelivery(manager: Manager, options: DeliveryOptions = {}): void {
  const {
    coalesceMs = 100,
    patienceMs = 1500,
    clock = systemClock,
    templates = new Templates(manager.local),
  } = options;
  const view = new DeliveryView(manager.local, templates, options.sources);
  const followers = new FollowersFirst(view, clock);
  const status = { clock, coalesceMs, patienceMs, coalescer: new Coalescer(clock, SUMMARIES) };
  manager.add(
    createController({
      name: 'works',
      concurrency: 8,
      reconcile: (request, context) => reconcileWorks(view, request, context, followers),
    })
      .watches(RESOURCE_BINDINGS, bindingRequests, specChanged)
      .watches(CLUSTER_RESOURCE_BINDINGS, bindingRequests, specChanged)
      .watches(CLUSTERS, (cluster) => view.ofCluster(cluster), { predicates: [suitabilityChanged] })
      .watches(CLUSTERS, (cluster) => view.ofCluster(cluster), { predicates: [presenceChanged] })
      .watches(OVERRIDE_POLICIES, (policy) => view.renderer.affectedBy(policy as OverridePolicy), specChanged)
      .watches(
        CLUSTER_OVERRIDE_POLICIES,
        (policy) => view.renderer.affectedBy(policy as ClusterOverridePolicy),
        specChanged,
      )
      .watches<Work>(WORKS, (work) => [...view.ofWork(work), ...followers.waitingFor(work)], {
        predicates: [wishChanged, { delete: (work) => view.misses(work) }],
        ownWrites: 'ignore',
      })
      .source((enqueue, signal) => view.followTemplates(enqueue, false, signal))
      .source((_, signal) => templates.followServedKinds(signal))
      .source((_, signal) => view.renderer.run(signal))
      .source((enqueue) => followers.follow(enqueue)),
  );
  manager.add(
    createController({
      name: 'status',
      concurrency: 8,
      gather: (request) => status.coalescer.left(statusKey(request), coalesceMs),
      reconcile: (request, context) => reconcileStatus(view, request, context, status),
    })
      .watches(RESOURCE_BINDINGS, bindingRequests, { ownWrites: 'ignore' })
      .watches(CLUSTER_RESOURCE_BINDINGS, bindingRequests, { ownWrites: 'ignore' })
      .watches(CLUSTERS, (cluster) => view.ofCluster(cluster), { predicates: [suitabilityChanged] })
      .watches(OVERRIDE_POLICIES, (policy) => view.renderer.affectedBy(policy as OverridePolicy), specChanged)
      .watches(
        CLUSTER_OVERRIDE_POLICIES,
        (policy) => view.renderer.affectedBy(policy as ClusterOverridePolicy),
        specChanged,
      )
      .watches(WORKS, (work) => view.ofWork(work))
      .source((enqueue, signal) => view.followTemplates(enqueue, true, signal)),
  );
  manager.add(workRelease(view));
}

const bindingRequests = (binding: KubeObject) => [bindingRequest(binding as Binding)];

function workRelease(view: DeliveryView) {
  const gone = { predicates: [{ create: () => false, update: () => false }] };
  const requestsOf = (works: readonly Work[]) =>
    works.map(({ metadata }) => ({ cluster: '', namespace: metadata.namespace, name: metadata.name ?? '' }));
  return createController({
    name: 'work-release',
    concurrency: 8,
    reconcile: (request, context) => releaseWork(view, request, context),
  })
    .watches<Work>(WORKS, (work) => (mayGo(view, work) ? requestsOf([work]) : []), { predicates: [wishOrEndChanged] })
    .watches<ResourceBinding>(RESOURCE_BINDINGS, ({ metadata }) => requestsOf(view.works.ofBinding(metadata.uid)), gone)
    .watches<ClusterResourceBinding>(
      CLUSTER_RESOURCE_BINDINGS,
      ({ metadata }) => requestsOf(view.works.ofBinding(metadata.uid)),
      gone,
    )
    .watches(
      CLUSTERS,
      ({ metadata }) => requestsOf(view.works.inNamespace(clusterNamespace(metadata.name ?? ''))),
      gone,
    );
}
