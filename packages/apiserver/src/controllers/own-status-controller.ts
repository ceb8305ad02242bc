import {
  API_SERVICES,
  FLOW_SCHEMAS,
  isConflict,
  isNotFound,
  type KubeObject,
  PRIORITY_LEVEL_CONFIGURATIONS,
  SERVICES,
} from '@asterism/machinery';
import { formatTime } from '../registry/metadata.ts';
import type { ServedResource } from '../registry/registry.ts';
import { requireResource } from '../registry/require-resource.ts';
import type { Controller, ControllerOptions } from './controller-options.ts';
import { KeyedWork } from './keyed-work.ts';

interface Condition {
  type: string;
  status: string;
  lastTransitionTime?: string;
  reason: string;
  message: string;
}

interface FlowSchema extends KubeObject {
  spec?: { priorityLevelConfiguration?: { name?: string } };
  status?: { conditions?: Condition[] };
}

interface ApiService extends KubeObject {
  spec?: { group?: string; version?: string; service?: { namespace?: string; name?: string; port?: number } | null };
  status?: { conditions?: Condition[] };
}

interface Service extends KubeObject {
  spec?: { type?: string; ports?: { port: number }[] };
}

/** What is looked at, and what it depends on. */
interface Kept {
  resource: ServedResource;
  dependsOn: ServedResource;
  work(name: string): Promise<void>;
}

/** Levels that every server has, stored or not. */
const BUILT_IN_LEVELS: ReadonlySet<string> = new Set([
  'catch-all',
  'exempt',
  'global-default',
  'leader-election',
  'node-high',
  'system',
  'workload-high',
  'workload-low',
]);

/** Why an APIService is not available, as far as it is this server that says so. */
const OWN_REASONS: ReadonlySet<string> = new Set(['ServiceNotFound', 'ServicePortError']);

const FLOW_MANAGER = 'api-priority-and-fairness-config-consumer-v1';

/**
 * The conditions that an API server itself writes, whatever controllers run beside it: `Dangling` of a FlowSchema, and
 * `Available` of an APIService. Whether one answers whose service stands is for an aggregator to say.
 */
export function startOwnStatusController(options: ControllerOptions): Controller {
  const { registry, signal, onError } = options;
  const kept = keptKinds(options);
  const known = new Map(kept.map(({ resource }) => [resource, new Set<string>()]));
  const work = new KeyedWork({
    work: async (key) => {
      const [resource = '', name = ''] = key.split(' ');
      await kept.find((each) => each.resource.type.resource === resource)?.work(name);
    },
    onError: (key, error) => onError(`the status of ${key}`, error),
    signal,
  });
  const add = (resource: ServedResource, name: string): void => work.add(`${resource.type.resource} ${name}`);
  const stop = registry.observe(({ resource, type, stored }) => {
    const names = known.get(resource);
    if (names !== undefined) {
      const name = stored.parse().metadata?.name ?? '';
      if (type === 'delete') {
        names.delete(name);
        return;
      }
      names.add(name);
      add(resource, name);
      return;
    }
    for (const each of kept) {
      if (each.dependsOn !== resource) continue;
      for (const name of known.get(each.resource) ?? []) add(each.resource, name);
    }
  });
  signal.addEventListener('abort', stop, { once: true });
  const begin = Promise.all(
    kept.map(async ({ resource }) => {
      for (const item of (await registry.list(resource)).items) {
        const name = item.parse().metadata?.name ?? '';
        known.get(resource)?.add(name);
        add(resource, name);
      }
    }),
  ).catch((error: unknown) => onError('the status of what is stored', error));
  return {
    settled: async () => {
      await begin;
      await work.settled();
    },
  };
}

function keptKinds(options: ControllerOptions): Kept[] {
  const { registry } = options;
  const flowSchemas = requireResource(registry, FLOW_SCHEMAS);
  const levels = requireResource(registry, PRIORITY_LEVEL_CONFIGURATIONS);
  const apiServices = requireResource(registry, API_SERVICES);
  const services = requireResource(registry, SERVICES);
  return [
    {
      resource: flowSchemas,
      dependsOn: levels,
      work: (name) => keepFlowSchema(options, flowSchemas, levels, name),
    },
    {
      resource: apiServices,
      dependsOn: services,
      work: (name) => keepApiService(options, apiServices, services, name),
    },
  ];
}

async function keepFlowSchema(
  { registry, user, clock }: ControllerOptions,
  resource: ServedResource,
  levels: ServedResource,
  name: string,
): Promise<void> {
  const schema: FlowSchema | undefined = await read(registry, resource, { name });
  if (schema === undefined) return;
  const level = schema.spec?.priorityLevelConfiguration?.name ?? '';
  const exists = BUILT_IN_LEVELS.has(level) || (await read(registry, levels, { name: level })) !== undefined;
  const message = `This FlowSchema references the PriorityLevelConfiguration object named "${level}"`;
  const condition = renewed(schema.status?.conditions, clock, {
    type: 'Dangling',
    status: exists ? 'False' : 'True',
    reason: exists ? 'Found' : 'NotFound',
    message: exists ? `${message} and it exists` : `${message} but there is no such object`,
  });
  if (condition === undefined) return;
  const { apiVersion, kind } = schema;
  const body = { apiVersion, kind, metadata: { name }, status: { conditions: [condition] } };
  await unlessGone(() =>
    registry.patch(
      resource,
      { name },
      { type: 'apply', body, force: true },
      { user, name, subresource: 'status', fieldManager: FLOW_MANAGER },
    ),
  );
}

async function keepApiService(
  { registry, user, clock }: ControllerOptions,
  resource: ServedResource,
  services: ServedResource,
  name: string,
): Promise<void> {
  const found: ApiService | undefined = await read(registry, resource, { name });
  if (found === undefined) return;
  const old = found.status?.conditions ?? [];
  const right = await availability(registry, services, found);
  const condition = right && renewed(old, clock, right);
  const others = old.filter(({ type, reason }) => (right ? type !== right.type : !OWN_REASONS.has(reason)));
  if (condition === undefined && (right !== undefined || others.length === old.length)) return;
  const conditions = condition === undefined ? others : [...others, condition];
  const body = { ...found, status: { ...found.status, conditions } };
  await unlessGone(() =>
    registry.update(resource, { name }, body, { user, name, subresource: 'status', fieldManager: 'kube-apiserver' }),
  );
}

/** Undefined where that cannot be known here. */
async function availability(
  registry: ControllerOptions['registry'],
  services: ServedResource,
  { spec }: ApiService,
): Promise<Condition | undefined> {
  const type = 'Available';
  if (!spec?.service) {
    return { type, status: 'True', reason: 'Local', message: 'Local APIServices are always available' };
  }
  const { namespace = '', name = '', port = 443 } = spec.service;
  const service: Service | undefined = await read(registry, services, { namespace, name });
  const what = `service/${name} in "${namespace}"`;
  if (service === undefined) {
    return { type, status: 'False', reason: 'ServiceNotFound', message: `${what} is not present` };
  }
  // A service of another type leads wherever it says.
  if (service.spec?.type === 'ClusterIP' && !service.spec.ports?.some((each) => each.port === port)) {
    return { type, status: 'False', reason: 'ServicePortError', message: `${what} is not listening on port ${port}` };
  }
  return undefined;
}

/** The condition to write, or undefined where it is there as it should be. */
function renewed(
  conditions: readonly Condition[] = [],
  clock: () => number,
  { type, status, reason, message }: Condition,
): Condition | undefined {
  const old = conditions.find((each) => each.type === type);
  if (old?.status === status && old.reason === reason && old.message === message) return undefined;
  const since = old?.status === status ? old.lastTransitionTime : undefined;
  return { type, status, lastTransitionTime: since ?? formatTime(clock()), reason, message };
}

async function read<T extends KubeObject>(
  registry: ControllerOptions['registry'],
  resource: ServedResource,
  ref: { name: string; namespace?: string },
): Promise<T | undefined> {
  try {
    return (await registry.get(resource, ref)).parse() as T;
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}

/** Somebody changed or deleted it meanwhile: that event brings it back. */
async function unlessGone(write: () => Promise<unknown>): Promise<void> {
  try {
    await write();
  } catch (error) {
    if (!isConflict(error) && !isNotFound(error)) throw error;
  }
}
