import {
  API_SERVICES,
  FLOW_SCHEMAS,
  isNotFound,
  type KubeObject,
  PRIORITY_LEVEL_CONFIGURATIONS,
} from '@asterism/machinery';
import { requireResource } from '../registry/require-resource.ts';
import type { Controller, ControllerOptions } from './controller-options.ts';
import { KeyedWork } from './keyed-work.ts';
import { type Condition, renewedCondition } from './renewed-condition.ts';
import { unlessChanged } from './unless-changed.ts';
import type { ServedResource } from '../contract/served-resource.ts';

interface FlowSchema extends KubeObject {
  spec?: { priorityLevelConfiguration?: { name?: string } };
  status?: { conditions?: Condition[] };
}

interface ApiService extends KubeObject {
  spec?: { service?: object | null };
  status?: { conditions?: Condition[] };
}

/** What is looked at, and what it depends on. */
interface Kept {
  resource: ServedResource;
  dependsOn?: ServedResource;
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

const FLOW_MANAGER = 'api-priority-and-fairness-config-consumer-v1';

/**
 * The conditions that an API server itself writes, whatever controllers run beside it: `Dangling` of a FlowSchema, and
 * `Available` of an APIService of the server's own; of others aggregation says it.
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
      for (const item of (await registry.list(resource, { skipDamaged: true })).items) {
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
  return [
    {
      resource: flowSchemas,
      dependsOn: levels,
      work: (name) => keepFlowSchema(options, flowSchemas, levels, name),
    },
    {
      resource: apiServices,
      work: (name) => keepApiService(options, apiServices, name),
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
  const condition = renewedCondition(schema.status?.conditions, clock, {
    type: 'Dangling',
    status: exists ? 'False' : 'True',
    reason: exists ? 'Found' : 'NotFound',
    message: exists ? `${message} and it exists` : `${message} but there is no such object`,
  });
  if (condition === undefined) return;
  const { apiVersion, kind } = schema;
  const body = { apiVersion, kind, metadata: { name }, status: { conditions: [condition] } };
  await unlessChanged(() =>
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
  name: string,
): Promise<void> {
  const found: ApiService | undefined = await read(registry, resource, { name });
  if (found === undefined || found.spec?.service) return;
  const old = found.status?.conditions ?? [];
  const condition = renewedCondition(old, clock, {
    type: 'Available',
    status: 'True',
    reason: 'Local',
    message: 'Local APIServices are always available',
  });
  if (condition === undefined) return;
  const conditions = [...old.filter(({ type }) => type !== condition.type), condition];
  const body = { ...found, status: { ...found.status, conditions } };
  await unlessChanged(() =>
    registry.update(resource, { name }, body, { user, name, subresource: 'status', fieldManager: 'kube-apiserver' }),
  );
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
