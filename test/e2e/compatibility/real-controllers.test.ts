import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { NAMESPACES, SERVICE_ACCOUNTS } from '@asterism/machinery';
import { klogErrors } from '../../cluster/klog-errors.ts';
import { Kubectl } from '../../cluster/kubectl.ts';
import { markPodsReady } from '../../cluster/mark-pods-ready.ts';
import { OwnControlPlane } from '../../cluster/own-control-plane.ts';
import { requiredBinary, unlessThere } from '../../cluster/real-kubernetes.ts';
import { RunFolder } from '../../cluster/run-folder.ts';
import { until } from '../../cluster/until.ts';
import { CLUSTER_SCENES } from './real-controllers/cluster-scenes.ts';
import { JOB_SCENES } from './real-controllers/job-scenes.ts';
import { NODES } from './real-controllers/scene.ts';
import { WORKLOAD_SCENES } from './real-controllers/workload-scenes.ts';

/** What they log as errors whatever the API server, and why. All else is our server's fault. */
const EXPECTED_ERRORS: readonly { line: RegExp; why: string }[] = [
  { line: /no cloud provider provided/, why: 'there is none' },
  {
    line: /requestheader-client-ca-file/,
    why: 'the server has no front proxy, as a kube-apiserver started without one',
  },
  { line: /the object has been modified; please apply/, why: 'two controllers, or one and its cache: they try again' },
  {
    line: /cannot set Complete=True condition without the SuccessCriteriaMet=true condition/,
    why: 'Kubernetes 1.31 and newer refuse it, in these words; the controller of 1.20 knows no such condition',
  },
  {
    line: /startTime cannot be removed for unsuspended job/,
    why: 'the controller of 1.20 starts a Job again that its cache shows not started; it tries again',
  },
  { line: /because it is being terminated/, why: 'a namespace on its end' },
  { line: /"[^"]+" not found(' \(will not retry!\))?$/, why: 'what was worked on was deleted meanwhile' },
  { line: /metrics|computeStatusForObjectMetric|horizontal\.go/, why: 'nobody serves metrics.k8s.io' },
];

const SCENES = { ...WORKLOAD_SCENES, ...JOB_SCENES, ...CLUSTER_SCENES };

const NEEDS = ['kube-controller-manager', 'kube-scheduler', 'kubectl-1.20', 'kubectl-1.36'];

describe('kube-controller-manager and kube-scheduler 1.20 work before our server', {
  skip: unlessThere(...NEEDS),
}, () => {
  for (const contentType of ['application/json', 'application/vnd.kubernetes.protobuf'] as const) {
    test(`in ${contentType}`, { concurrency: true, timeout: 120_000 }, async (t) => {
      await using run = await RunFolder.open();
      const flags = ['--horizontal-pod-autoscaler-sync-period=2s', '--pvclaimbinder-sync-period=2s'];
      await using controlPlane = await OwnControlPlane.start(run, { name: 'own', contentType, flags });
      const { client } = controlPlane;
      await using _a = markPodsReady({ client, node: NODES[0]!, scheduled: true });
      await using _b = markPodsReady({ client, node: NODES[1]!, scheduled: true });
      const kubectls = await Promise.all(
        ['1.20', '1.36'].map(
          async (version) =>
            new Kubectl(
              requiredBinary(`kubectl-${version}`),
              controlPlane.kubeconfig,
              await run.folder(`home-${version}`),
            ),
        ),
      );
      const played = Object.entries(SCENES).map(([name, play], index) =>
        t.test(name, async () => {
          const namespace = `scene-${index}`;
          await client.resource(NAMESPACES).create({ metadata: { name: namespace } });
          const needs = [controlPlane.controllerManager, controlPlane.scheduler];
          await until(client, SERVICE_ACCOUNTS, { namespace, name: 'default' }, () => true, { needs });
          await play({ client, kubectls, namespace });
        }),
      );
      await Promise.all(played);
      await t.test('nobody complains', async () => {
        assert.deepEqual(controlPlane.complaints, []);
        const lines = (await klogErrors(controlPlane.folder)).map(({ line }) => line);
        assert.deepEqual(
          lines.filter((line) => !EXPECTED_ERRORS.some((expected) => expected.line.test(line))),
          [],
        );
      });
    });
  }
});
