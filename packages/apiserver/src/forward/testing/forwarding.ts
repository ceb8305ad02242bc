import { type Client, createClient, createTransport, type Transport, type TransportRequest } from '@asterism/client';
import {
  CLUSTER_ROLE_BINDINGS,
  CLUSTER_ROLES,
  CUSTOM_RESOURCE_DEFINITIONS,
  type KubeObject,
  type ResourceType,
} from '@asterism/machinery';
import { CREDENTIAL_ID, type UserInfo } from '../../contract/user-info.ts';
import { type DelegatedServer, grant, startDelegatedServer } from '../../delegation/testing/delegated-server.ts';
import type { ExtensionContext } from '../../http/extension/api-extension.ts';
import { createMemoryStorage } from '../../storage/memory-storage.ts';
import type { TestServer } from '../../testing/index.ts';
import { type ForwardedResource, forwardGroupVersion } from '../forward-group-version.ts';

export const WIDGETS: ResourceType<KubeObject> = {
  group: 'example.com',
  version: 'v1',
  resource: 'widgets',
  kind: 'Widget',
  namespaced: true,
};

/** As discovery and OpenAPI name it here. */
export const ENTRY: ForwardedResource = {
  resource: 'widgets',
  singular: 'widget',
  kind: 'Widget',
  namespaced: true,
  verbs: ['create', 'delete', 'get', 'list', 'patch', 'update', 'watch'],
  shortNames: ['wd'],
  subresources: [{ name: 'status', kind: 'Widget', verbs: ['get', 'patch', 'update'] }],
  schema: { type: 'object', properties: { spec: { type: 'object', properties: { size: { type: 'integer' } } } } },
};

const DEFINITION = {
  metadata: { name: 'widgets.example.com' },
  spec: {
    group: 'example.com',
    scope: 'Namespaced',
    names: { plural: 'widgets', singular: 'widget', kind: 'Widget', listKind: 'WidgetList' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        deprecated: true,
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: {
              spec: { type: 'object', properties: { size: { type: 'integer' } } },
              status: { type: 'object', properties: { fine: { type: 'boolean' } } },
            },
          },
        },
        subresources: { status: {} },
        additionalPrinterColumns: [{ name: 'Size', type: 'integer', jsonPath: '.spec.size' }],
      },
    ],
  },
};

export interface Forwarding {
  running: DelegatedServer;
  /** What went to the host in somebody's name. */
  sent: TransportRequest[];
  created: ExtensionContext[];
  clientOf(user: UserInfo): Client;
}

/** The server's own identity at the host: it may act as anybody but the host's masters. */
const DEPUTY: UserInfo = { username: 'deputy', groups: ['deputies'] };
/** One of the host's group that may do everything with Widgets. */
export const MAKERS: UserInfo = {
  username: 'mia',
  groups: ['makers'],
  uid: '7',
  extra: { 'example.com/scopes': ['a', 'b'], [CREDENTIAL_ID]: ['JTI=1'] },
};

/** A server with Widgets of a host forwarded; the group `makers` may do everything with them there. */
export async function withForwarding(
  use: (forwarding: Forwarding) => Promise<void>,
  beforeCreate: (context: ExtensionContext) => Promise<void> = () => Promise.resolve(),
): Promise<void> {
  const sent: TransportRequest[] = [];
  const created: ExtensionContext[] = [];
  const extension = (host: TestServer) => {
    const inner = host.clientAs(DEPUTY).transport;
    const transport: Transport = Object.create(inner, {
      server: { value: 'the-host' },
      request: {
        value: (request: TransportRequest) => {
          sent.push(request);
          return inner.request(request);
        },
      },
    });
    return forwardGroupVersion({
      group: 'example.com',
      version: 'v1',
      transport,
      resources: [ENTRY],
      beforeCreate: async (context) => {
        created.push(context);
        await beforeCreate(context);
      },
    });
  };
  await using running = await startDelegatedServer({
    host: { controllers: true },
    server: (host) => ({
      kinds: 'builtin',
      storage: createMemoryStorage(),
      controllers: false,
      extensions: [extension(host)],
    }),
  });
  const { host } = running;
  await defineWidgets(host);
  await grant(host, 'makers', { apiGroups: ['example.com'], resources: ['widgets', 'widgets/status'], verbs: ['*'] });
  await grant(host, 'guests', { apiGroups: ['example.com'], resources: ['widgets'], verbs: ['get', 'list', 'patch'] });
  const clients: Client[] = [];
  const clientOf = (user: UserInfo): Client => {
    const credential = { kind: 'token', token: host.tokenFor(user) } as const;
    const client = createClient({
      transport: createTransport({ server: running.url, caData: running.ca, credential }),
    });
    clients.push(client);
    return client;
  };
  try {
    await use({ running, sent, created, clientOf });
  } finally {
    await Promise.all(clients.map(({ transport }) => transport.close()));
  }
}

async function defineWidgets(host: TestServer): Promise<void> {
  const definitions = host.client.resource<KubeObject>(CUSTOM_RESOURCE_DEFINITIONS);
  await definitions.create(DEFINITION);
  for await (const { object } of definitions.watch({ signal: AbortSignal.timeout(5_000) })) {
    const { conditions = [] } = (object.status ?? {}) as { conditions?: { type: string; status: string }[] };
    if (conditions.some(({ type, status }) => type === 'Established' && status === 'True')) break;
  }
  const metadata = { name: 'deputies' };
  await host.client.resource(CLUSTER_ROLES).create({
    metadata,
    rules: [
      { apiGroups: [''], resources: ['users'], verbs: ['impersonate'] },
      {
        apiGroups: [''],
        resources: ['groups'],
        verbs: ['impersonate'],
        resourceNames: ['makers', 'guests', 'system:unauthenticated'],
      },
      {
        apiGroups: ['authentication.k8s.io'],
        resources: ['uids', 'userextras/example.com%2fscopes', 'userextras/example.com/scopes'],
        verbs: ['impersonate'],
      },
    ],
  });
  await host.client.resource(CLUSTER_ROLE_BINDINGS).create({
    metadata,
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'deputies' },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'Group', name: 'deputies' }],
  });
}

export function widget(name: string, size = 1): KubeObject {
  return { apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name, namespace: 'default' }, spec: { size } };
}
