import type { KubeObject } from '@asterism/machinery';
import { API_VERSION, type OverridePolicy, type PropagationPolicy } from '@asterism/fleet/api';

/** The demo application: ordinary Kubernetes objects, and two policies that say where they go and what differs there. */

export const DEMO_NAMESPACE = 'demo';
export const DEMO_DEPLOYMENT = 'web';

/** Where the demo goes: two clusters with their weights, and the region whose images come from elsewhere. */
export interface DemoPlacement {
  weights: { cluster: string; weight: number }[];
  region: string;
  registry: string;
}

const labels = { app: DEMO_DEPLOYMENT };
const inDemo = (name: string) => ({ name, namespace: DEMO_NAMESPACE });

export function demoManifests(placement: DemoPlacement): KubeObject[] {
  return [
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: DEMO_NAMESPACE } },
    propagationPolicy(placement),
    overridePolicy(placement),
    {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: inDemo('web-pages'),
      data: { 'index.html': '<h1>One application, every cluster</h1>\n' },
    },
    {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: inDemo(DEMO_DEPLOYMENT),
      spec: { selector: labels, ports: [{ name: 'http', port: 80, targetPort: 8080 }] },
    },
    deployment(),
  ];
}

function deployment(): KubeObject {
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { ...inDemo(DEMO_DEPLOYMENT), labels },
    spec: {
      replicas: 9,
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: {
          containers: [
            {
              name: 'web',
              image: 'registry.example/web:1.27',
              ports: [{ containerPort: 8080 }],
              resources: { requests: { cpu: '100m', memory: '64Mi' } },
              volumeMounts: [{ name: 'pages', mountPath: '/srv' }],
            },
          ],
          volumes: [{ name: 'pages', configMap: { name: 'web-pages' } }],
        },
      },
    },
  };
}

function propagationPolicy({ weights }: DemoPlacement): PropagationPolicy {
  return {
    apiVersion: API_VERSION,
    kind: 'PropagationPolicy',
    metadata: inDemo(DEMO_DEPLOYMENT),
    spec: {
      resourceSelectors: [
        { apiVersion: 'apps/v1', kind: 'Deployment', name: DEMO_DEPLOYMENT },
        { apiVersion: 'v1', kind: 'Service', name: DEMO_DEPLOYMENT },
      ],
      // The ConfigMap that the Deployment mounts goes wherever that goes.
      propagateDeps: true,
      placement: {
        clusterAffinity: { labelSelector: { matchLabels: { tier: 'production' } } },
        replicaScheduling: {
          replicaSchedulingType: 'Divided',
          replicaDivisionPreference: 'Weighted',
          weightPreference: {
            staticWeightList: weights.map(({ cluster, weight }) => ({
              targetCluster: { clusterNames: [cluster] },
              weight,
            })),
          },
        },
      },
    },
  };
}

function overridePolicy({ region, registry }: DemoPlacement): OverridePolicy {
  return {
    apiVersion: API_VERSION,
    kind: 'OverridePolicy',
    metadata: inDemo('regional-registry'),
    spec: {
      resourceSelectors: [{ apiVersion: 'apps/v1', kind: 'Deployment' }],
      overrideRules: [
        {
          targetCluster: { fieldSelector: { matchExpressions: [{ key: 'region', operator: 'In', values: [region] }] } },
          overriders: { imageOverrider: [{ component: 'Registry', operator: 'replace', value: registry }] },
        },
      ],
    },
  };
}
