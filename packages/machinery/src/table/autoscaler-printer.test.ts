import { testCells } from './testing/test-cells.ts';

testCells([
  [
    'HorizontalPodAutoscaler v1',
    'autoscaling',
    'HorizontalPodAutoscaler',
    {
      spec: {
        scaleTargetRef: { kind: 'Deployment', name: 'web' },
        maxReplicas: 4,
        targetCPUUtilizationPercentage: 80,
      },
      status: { currentReplicas: 2, currentCPUUtilizationPercentage: 35 },
    },
    { Reference: 'Deployment/web', Targets: 'cpu: 35%/80%', MinPods: '<unset>', MaxPods: 4, Replicas: 2 },
  ],
  [
    'HorizontalPodAutoscaler with measured metrics',
    'autoscaling',
    'HorizontalPodAutoscaler',
    {
      spec: {
        metrics: [
          { type: 'Resource', resource: { name: 'memory', target: { type: 'AverageValue', averageValue: '1Gi' } } },
          { type: 'External', external: { target: { type: 'AverageValue', averageValue: '30' } } },
        ],
      },
      status: {
        currentMetrics: [
          { type: 'Resource', resource: { name: 'memory', current: { averageValue: '512Mi' } } },
          { type: 'External', external: { current: { averageValue: '12' } } },
        ],
      },
    },
    { Targets: 'memory: 512Mi/1Gi, 12/30 (avg)' },
  ],
]);
