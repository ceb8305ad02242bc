import type { DifferentialCase, NewerAnswer, RequestStep } from '../differential-case.ts';
import { caseName } from './requests.ts';

const get = (path: string, headers: Record<string, string> = {}): RequestStep => ({
  request: { method: 'GET', path, headers },
});

/** Group-versions that both servers serve, with the resources of each that count as combinations. */
const GROUP_VERSIONS: Readonly<Record<string, readonly string[]>> = {
  '/api/v1': [
    'bindings',
    'configmaps',
    'endpoints',
    'events',
    'limitranges',
    'namespaces',
    'namespaces/finalize',
    'namespaces/status',
    'nodes',
    'nodes/proxy',
    'nodes/status',
    'persistentvolumeclaims',
    'persistentvolumeclaims/status',
    'persistentvolumes',
    'pods',
    'pods/attach',
    'pods/binding',
    'pods/eviction',
    'pods/exec',
    'pods/log',
    'pods/portforward',
    'pods/proxy',
    'pods/status',
    'podtemplates',
    'replicationcontrollers',
    'replicationcontrollers/scale',
    'resourcequotas',
    'secrets',
    'serviceaccounts',
    'serviceaccounts/token',
    'services',
    'services/proxy',
  ],
  '/apis/apps/v1': [
    'controllerrevisions',
    'daemonsets',
    'deployments',
    'deployments/scale',
    'replicasets',
    'statefulsets',
  ],
  '/apis/batch/v1': ['jobs', 'jobs/status'],
  '/apis/autoscaling/v1': ['horizontalpodautoscalers'],
  '/apis/networking.k8s.io/v1': ['ingresses', 'ingressclasses', 'networkpolicies'],
  '/apis/rbac.authorization.k8s.io/v1': ['roles', 'rolebindings', 'clusterroles', 'clusterrolebindings'],
  '/apis/storage.k8s.io/v1': ['storageclasses', 'volumeattachments', 'csidrivers', 'csinodes'],
  '/apis/coordination.k8s.io/v1': ['leases'],
  '/apis/scheduling.k8s.io/v1': ['priorityclasses'],
  '/apis/node.k8s.io/v1': ['runtimeclasses'],
  '/apis/events.k8s.io/v1': ['events'],
  '/apis/certificates.k8s.io/v1': ['certificatesigningrequests', 'certificatesigningrequests/approval'],
  '/apis/authentication.k8s.io/v1': ['tokenreviews'],
  '/apis/authorization.k8s.io/v1': [
    'subjectaccessreviews',
    'selfsubjectaccessreviews',
    'localsubjectaccessreviews',
    'selfsubjectrulesreviews',
  ],
  '/apis/admissionregistration.k8s.io/v1': ['validatingwebhookconfigurations', 'mutatingwebhookconfigurations'],
  '/apis/apiextensions.k8s.io/v1': ['customresourcedefinitions'],
  '/apis/apiregistration.k8s.io/v1': ['apiservices'],
};

const AGGREGATED = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';

/** What is served, in the forms in which clients ask for it. Nothing in it depends on the seed. */
export function discoveryCases(seed: number): DifferentialCase[] {
  return [groupVersions(seed), groups(seed), health(seed), documents(seed), aggregated(seed)];
}

function groupVersions(seed: number): DifferentialCase {
  const combinations = Object.entries(GROUP_VERSIONS).flatMap(([path, resources]) =>
    resources.map((resource) => `${path}: ${resource}`),
  );
  const steps = Object.keys(GROUP_VERSIONS).map((path) => get(path));
  return { name: caseName('disc-versions', seed), subject: 'discovery', combinations, steps };
}

function groups(seed: number): DifferentialCase {
  const paths = [
    '/api',
    '/apis',
    '/api/',
    '/apis/',
    '/apis/apps',
    '/apis/batch',
    '/apis/networking.k8s.io',
    '/apis/apps/',
    '/apis/nothing',
    '/apis/apps/v9',
    '/api/v9',
  ];
  const user: RequestStep = { request: { method: 'GET', path: '/apis/apps', user: 'alice' } };
  const nobody: RequestStep = { request: { method: 'GET', path: '/apis/apps', user: 'anonymous' } };
  const write: RequestStep = { request: { method: 'POST', path: '/apis/apps', body: {} } };
  return {
    name: caseName('disc-groups', seed),
    subject: 'discovery',
    combinations: [
      ...paths.map((path) => `discovery: ${path}`),
      'discovery: as a user',
      'discovery: as nobody',
      'discovery: written to',
      'discovery: YAML',
    ],
    steps: [
      ...paths.map((path) => get(path)),
      user,
      nobody,
      { ...write, since: { because: 'only reads since 1.22', status: 405 } },
      get('/apis/apps', { Accept: 'application/yaml' }),
    ],
  };
}

/** Answered with the list of paths by 1.20. */
const NEWER_PATHS: Readonly<Record<string, NewerAnswer>> = {
  '/version/': { because: 'the slash does not matter any more', status: 200, body: { major: '1' } },
  '/readyz/nothing': {
    because: 'what is not there is not found since 1.21',
    status: 404,
    body: '404 page not found\n',
  },
};

function health(seed: number): DifferentialCase {
  const paths = [
    '/healthz',
    '/livez',
    '/readyz',
    '/healthz/ping',
    '/livez/ping',
    '/readyz/ping',
    '/readyz/nothing',
    '/version',
    '/version/',
  ];
  return {
    name: caseName('disc-health', seed),
    subject: 'discovery',
    combinations: [
      ...paths.map((path) => `health: ${path}`),
      'health: anonymous',
      'version: anonymous',
      'metrics: forbidden',
    ],
    steps: [
      ...paths.map((path) => (NEWER_PATHS[path] ? { ...get(path), since: NEWER_PATHS[path] } : get(path))),
      { request: { method: 'GET', path: '/healthz', user: 'anonymous' } },
      { request: { method: 'GET', path: '/version', user: 'anonymous' } },
      { request: { method: 'GET', path: '/metrics', user: 'alice' } },
    ],
  };
}

/** Forms that 1.20 does not have, or whose whole content is another: what must be in ours. */
function documents(seed: number): DifferentialCase {
  const deployment = {
    definitions: {
      'io.k8s.api.apps.v1.Deployment': {
        type: 'object',
        'x-kubernetes-group-version-kind': [{ group: 'apps', kind: 'Deployment', version: 'v1' }],
      },
    },
  };
  return {
    name: caseName('disc-documents', seed),
    subject: 'discovery',
    combinations: ['openapi: v2', 'openapi: v3 index', 'openapi: v3 of apps/v1'],
    steps: [
      {
        ...get('/openapi/v2'),
        since: {
          because: 'the document tells the kinds of 1.36',
          status: 200,
          body: { swagger: '2.0', ...deployment },
        },
      },
      {
        ...get('/openapi/v3'),
        since: { because: 'OpenAPI v3 is served since 1.23', status: 200, body: { paths: { 'apis/apps/v1': {} } } },
      },
      {
        ...get('/openapi/v3/apis/apps/v1'),
        since: { because: 'OpenAPI v3 is served since 1.23', status: 200, body: { openapi: '3.0.0' } },
      },
    ],
  };
}

function aggregated(seed: number): DifferentialCase {
  const because = 'aggregated discovery is served since 1.26, as v2 since 1.30';
  const list = { kind: 'APIGroupDiscoveryList', apiVersion: 'apidiscovery.k8s.io/v2' };
  return {
    name: caseName('disc-aggregated', seed),
    subject: 'discovery',
    combinations: ['aggregated: /api', 'aggregated: /apis', 'aggregated: fallback'],
    steps: [
      {
        ...get('/api', { Accept: AGGREGATED }),
        since: { because, status: 200, body: { ...list, items: [{ versions: [{ version: 'v1' }] }] } },
      },
      { ...get('/apis', { Accept: AGGREGATED }), since: { because, status: 200, body: list } },
      { ...get('/api', { Accept: `${AGGREGATED.replace('v2', 'v9')},application/json` }) },
    ],
  };
}
