import type { KubeObject } from '@asterism/machinery';

/** About 5 KB as a server stores it, managedFields included: the size of a Deployment's pod with a sidecar and some variables. */
export function benchPod(namespace: string, name: string): KubeObject {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name,
      namespace,
      labels: { app: 'bench', tier: 'web', 'app.kubernetes.io/instance': name },
      annotations: { 'example.com/checksum': 'c'.repeat(64), 'example.com/note': 'n'.repeat(200) },
    },
    spec: {
      containers: [container('web', 8080), container('sidecar', 9090)],
      volumes: [{ name: 'pages', configMap: { name: 'pages' } }],
      tolerations: [
        { key: 'node.kubernetes.io/not-ready', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 300 },
      ],
    },
  };
}

function container(name: string, port: number) {
  return {
    name,
    image: `registry.example/${name}:1.27`,
    ports: [{ name: 'http', containerPort: port, protocol: 'TCP' }],
    env: ['LOG_LEVEL', 'REGION', 'CACHE_URL', 'QUEUE_URL'].map((variable) => ({
      name: variable,
      value: 'v'.repeat(40),
    })),
    resources: { requests: { cpu: '100m', memory: '64Mi' }, limits: { memory: '128Mi' } },
    readinessProbe: { httpGet: { path: '/ready', port: 'http' }, periodSeconds: 5 },
    volumeMounts: [{ name: 'pages', mountPath: '/srv' }],
  };
}
