import { type Clock, systemClock } from '@asterism/client';
import {
  CLUSTER_ROLES,
  type ClusterRole,
  CONFIG_MAPS,
  type ConfigMap,
  deepEqual,
  isAlreadyExists,
  isStatusError,
  type PolicyRule,
} from '@asterism/machinery';
import {
  annotationsChanged,
  type Cluster as EngagedCluster,
  createController,
  generationChanged,
  type Informer,
  type Manager,
} from '@asterism/runtime';
import {
  API_VERSION,
  CALLERS_CONFIG_MAP,
  CALLERS_ROLE,
  type Cluster,
  CLUSTER_LABEL,
  CLUSTERS,
  clusterNamespace,
  clusterOfNamespace,
  FIELD_MANAGER,
  FIXED_CALLERS_ANNOTATION,
  MADE_BY_JOIN,
  MADE_BY_LABEL,
} from '../api/index.ts';
import { type Callers, formatCallers, impersonationRules, parseCallers } from './callers.ts';
import { CALLERS_MAPS, type CallersDirectory } from './callers-directory.ts';

const KEY = 'callers.json';
const THE_ROLE = { fieldSelector: `metadata.name=${CALLERS_ROLE}` };

/** Keeps, for each cluster, the ConfigMap in its namespace that says who comes there through the hub. */
export function addCallers(manager: Manager, directory: CallersDirectory, clock: Clock = systemClock): void {
  const clusters = manager.local.cache.informer(CLUSTERS);
  const maps = manager.local.cache.informer(CONFIG_MAPS, CALLERS_MAPS);
  manager.add(
    createController({
      name: 'cluster-callers',
      concurrency: 4,
      async reconcile({ name }, { cluster: hub, signal }) {
        const cluster = clusters.store.get(name);
        const callers = directory.of(name);
        if (!cluster || cluster.metadata.deletionTimestamp !== undefined || !callers) return;
        const { data: admitted, until } = directory.admissions(name);
        const desired = { [KEY]: formatCallers(callers), ...admitted };
        const live = maps.store.get(`${clusterNamespace(name)}/${CALLERS_CONFIG_MAP}`);
        const requeue =
          until === undefined ? undefined : { requeueAfter: Math.max(until - clock.wall().getTime(), 0) + 1 };
        if (live && deepEqual(live.data, desired)) return requeue;
        const resource = hub.client.resource(CONFIG_MAPS);
        if (live) {
          // Merged, because processes of the hub write those whom they admit beside it.
          const gone = Object.keys(live.data ?? {}).filter((key) => !(key in desired));
          const body = { data: { ...desired, ...Object.fromEntries(gone.map((key) => [key, null])) } };
          await resource.patch(refOf(live), { type: 'merge', body }, { signal });
          return requeue;
        }
        await resource.create(callersConfigMap(cluster, desired), { signal }).catch((error: unknown) => {
          // It comes into the cache, and is compared then.
          if (!isAlreadyExists(error)) throw error;
        });
        return requeue;
      },
    })
      .for(CLUSTERS, { predicates: [generationChanged] })
      .watches(CONFIG_MAPS, ({ metadata }) => ofCluster(clusterOfNamespace(metadata?.namespace ?? '')), CALLERS_MAPS)
      .source((enqueue, signal) => {
        const all = (): void => {
          for (const { metadata } of clusters.store.list()) enqueue({ cluster: '', name: metadata.name ?? '' });
        };
        signal.addEventListener('abort', directory.onChange(all), { once: true });
        all();
      }),
  );
}

/** Where the agent's manifests are those of an earlier release, or another account was given to the hub. */
const NOT_ALLOWED =
  `the member does not let this account keep the ClusterRole ${CALLERS_ROLE}, by which callers of the hub come there: apply anew ` +
  'what `aster agent manifests` prints';
const NOT_ALLOWED_RETRY_MS = 60_000;

export interface MemberCallersOptions {
  /** Whether this process writes to the cluster, by an account that a join made there; asked anew when its Cluster's annotations change. */
  accepts: (clusterName: string) => boolean;
  /** The one namespace of the hub that can be read. */
  namespace?: string | undefined;
}

/**
 * Keeps, in the members that are written to from here, the ClusterRole by which they let this account come as the callers. The
 * same in the hub (Push) and in an agent (Pull), which renders the rules itself: names alone come from the hub.
 */
export function addMemberCallers(manager: Manager, { accepts, namespace }: MemberCallersOptions): void {
  const selected = { ...CALLERS_MAPS, ...(namespace === undefined ? {} : { namespace }) };
  const own = clusterOfNamespace(namespace ?? '');
  const readable = own === undefined ? {} : { fieldSelector: `metadata.name=${own}` };
  const maps = manager.local.cache.informer(CONFIG_MAPS, selected);
  const callersOf = (name: string): Callers | undefined =>
    parseCallers(maps.store.get(`${clusterNamespace(name)}/${CALLERS_CONFIG_MAP}`)?.data?.[KEY]);
  const followed = new WeakMap<EngagedCluster, Informer<ClusterRole>>();
  let enqueue: ((name: string) => void) | undefined;
  const rolesIn = (request: EngagedCluster): Informer<ClusterRole> => {
    // Each request has a view of its own of the one cluster that is engaged.
    const cluster = manager.cluster(request.name) ?? request;
    const present = followed.get(cluster);
    if (present) return present;
    const roles = cluster.cache.informer(CLUSTER_ROLES, THE_ROLE);
    const changed = (): void => enqueue?.(cluster.name);
    roles.addHandler({ onUpdate: changed, onDelete: changed });
    roles.synced(cluster.signal).then(changed, () => {});
    followed.set(cluster, roles);
    return roles;
  };
  manager.add(
    createController({
      name: 'member-callers',
      concurrency: 16,
      concurrencyPerCluster: 1,
      async reconcile({ cluster: name }, { cluster: member, signal, logger }) {
        const callers = callersOf(name);
        if (!accepts(name) || !callers) return undefined;
        const rules = impersonationRules(callers);
        const roles = rolesIn(member);
        // Until then it is not known whether an administrator of the member fixed the callers.
        if (!roles.hasSynced) return undefined;
        const live = roles.store.get(CALLERS_ROLE);
        if (live?.metadata?.annotations?.[FIXED_CALLERS_ANNOTATION] !== undefined) return undefined;
        if (live && deepEqual(live.rules ?? [], rules)) return undefined;
        try {
          await member.client.resource(CLUSTER_ROLES).apply(callersRole(rules), {
            fieldManager: FIELD_MANAGER,
            force: true,
            signal,
          });
        } catch (error) {
          if (!isStatusError(error, 'Forbidden')) throw error;
          logger.warn({ err: error }, NOT_ALLOWED);
          return { requeueAfter: NOT_ALLOWED_RETRY_MS };
        }
        return undefined;
      },
    })
      .watches(CONFIG_MAPS, ({ metadata }) => inMember(clusterOfNamespace(metadata?.namespace ?? '')), selected)
      // An account may have been made where a credential was given before.
      .watches(CLUSTERS, ({ metadata }) => inMember(metadata?.name), { ...readable, predicates: [annotationsChanged] })
      .source((ask, signal) => {
        enqueue = (name) => inMember(name).forEach((request) => ask(request));
        const stop = manager.onEngage((cluster) => {
          enqueue?.(cluster.name);
          cluster.onReturn(() => enqueue?.(cluster.name));
        });
        signal.addEventListener('abort', stop, { once: true });
      }),
  );
}

function callersRole(rules: PolicyRule[]): ClusterRole {
  return {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRole',
    metadata: { name: CALLERS_ROLE, labels: { [MADE_BY_LABEL]: MADE_BY_JOIN } },
    rules,
  };
}

function callersConfigMap({ metadata }: Cluster, data: Record<string, string>): ConfigMap {
  const { name = '', uid = '' } = metadata;
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: {
      name: CALLERS_CONFIG_MAP,
      namespace: clusterNamespace(name),
      labels: { [CLUSTER_LABEL]: name },
      ownerReferences: [
        { apiVersion: API_VERSION, kind: 'Cluster', name, uid, controller: true, blockOwnerDeletion: false },
      ],
    },
    data,
  };
}

function refOf({ metadata }: ConfigMap): { namespace: string | undefined; name: string } {
  return { namespace: metadata?.namespace, name: metadata?.name ?? '' };
}

function ofCluster(name: string | undefined) {
  return name === undefined ? [] : [{ cluster: '', name }];
}

function inMember(name: string | undefined) {
  return name === undefined ? [] : [{ cluster: name, name: CALLERS_ROLE }];
}
