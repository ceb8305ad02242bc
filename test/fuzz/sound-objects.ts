import type { KubeObject } from '@asterism/machinery';

/** A kind that is fuzzed: where it is served, and an object that a server accepts. */
export interface SoundObject {
  path: string;
  object: KubeObject;
  /** Has protobuf messages and strategic merge patches. */
  builtin: boolean;
}

const POD_TEMPLATE = {
  metadata: { labels: { app: 'x' } },
  spec: {
    containers: [
      {
        name: 'main',
        image: 'registry.example/main:1',
        ports: [{ name: 'http', containerPort: 80, protocol: 'TCP' }],
        env: [{ name: 'A', value: '1' }],
        resources: { requests: { cpu: '100m', memory: '64Mi' } },
        livenessProbe: { httpGet: { path: '/', port: 'http' } },
        volumeMounts: [{ name: 'scratch', mountPath: '/scratch' }],
      },
    ],
    volumes: [{ name: 'scratch', emptyDir: {} }],
    tolerations: [{ key: 'a', operator: 'Exists' }],
  },
};

const CORE = '/api/v1/namespaces/default';

export const WIDGET_DEFINITION = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'widgets.fuzz.example.com' },
  spec: {
    group: 'fuzz.example.com',
    scope: 'Namespaced',
    names: { plural: 'widgets', singular: 'widget', kind: 'Widget' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        subresources: { status: {} },
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: {
              spec: {
                type: 'object',
                properties: {
                  size: { type: 'integer', minimum: 0, default: 1 },
                  any: { 'x-kubernetes-preserve-unknown-fields': true },
                  port: { 'x-kubernetes-int-or-string': true },
                  parts: {
                    type: 'array',
                    'x-kubernetes-list-type': 'map',
                    'x-kubernetes-list-map-keys': ['name'],
                    items: { type: 'object', required: ['name'], properties: { name: { type: 'string' } } },
                  },
                },
              },
            },
          },
        },
      },
    ],
  },
};

export const SOUND_OBJECTS: readonly SoundObject[] = [
  { path: `${CORE}/configmaps`, builtin: true, object: { apiVersion: 'v1', kind: 'ConfigMap', data: { a: '1' } } },
  { path: `${CORE}/secrets`, builtin: true, object: { apiVersion: 'v1', kind: 'Secret', stringData: { a: '1' } } },
  { path: `${CORE}/pods`, builtin: true, object: { apiVersion: 'v1', kind: 'Pod', ...POD_TEMPLATE } },
  {
    path: `${CORE}/services`,
    builtin: true,
    object: {
      apiVersion: 'v1',
      kind: 'Service',
      spec: { selector: { app: 'x' }, ports: [{ name: 'http', port: 80, targetPort: 'http', protocol: 'TCP' }] },
    },
  },
  {
    path: '/apis/apps/v1/namespaces/default/deployments',
    builtin: true,
    object: {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      spec: { replicas: 2, selector: { matchLabels: { app: 'x' } }, template: POD_TEMPLATE },
    },
  },
  {
    path: '/apis/networking.k8s.io/v1/namespaces/default/networkpolicies',
    builtin: true,
    object: {
      apiVersion: 'networking.k8s.io/v1',
      kind: 'NetworkPolicy',
      spec: { podSelector: {}, ingress: [{ from: [{ ipBlock: { cidr: '10.0.0.0/8' } }], ports: [{ port: 80 }] }] },
    },
  },
  {
    path: '/apis/rbac.authorization.k8s.io/v1/namespaces/default/roles',
    builtin: true,
    object: {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'Role',
      rules: [{ apiGroups: [''], resources: ['pods'], verbs: ['get'] }],
    },
  },
  {
    path: '/apis/apiextensions.k8s.io/v1/customresourcedefinitions',
    builtin: true,
    object: {
      ...WIDGET_DEFINITION,
      spec: {
        ...WIDGET_DEFINITION.spec,
        group: 'other.example.com',
        names: { plural: 'others', singular: 'other', kind: 'Other' },
      },
      metadata: { name: 'others.other.example.com' },
    },
  },
  {
    path: '/apis/fuzz.example.com/v1/namespaces/default/widgets',
    builtin: false,
    object: {
      apiVersion: 'fuzz.example.com/v1',
      kind: 'Widget',
      spec: { size: 2, any: { a: [1] }, port: 'http', parts: [{ name: 'a' }] },
    },
  },
];
