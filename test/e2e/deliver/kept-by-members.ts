import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import {
  DEPLOYMENTS,
  HORIZONTAL_POD_AUTOSCALERS_V1,
  type HorizontalPodAutoscalerV1,
  SERVICES,
} from '@asterism/machinery';
import { watchResource } from '@asterism/runtime';
import { runAster } from '../../cluster/aster.ts';
import type { PlacingFleet } from '../../cluster/placing/placing-fleet.ts';
import { only, Scene } from '../../cluster/placing/scene.ts';

const TARGET_8080 = [{ op: 'replace', path: '/spec/ports/0/targetPort', value: 8080 }];

/** What controllers of a member write stays theirs. */
export function keptByMembers(fleet: () => PlacingFleet): void {
  describe('what belongs to a member', () => {
    let scene: Scene;
    before(async () => {
      scene = await Scene.open(fleet(), 'kept');
    });

    const oak = (...args: string[]): Promise<string> =>
      scene.fleet.oak.kubectl.run(['--namespace', scene.namespace, ...args]);

    test('an autoscaler scales while a label changes in the hub: the replicas stay its own', async () => {
      const web = scene.deployment('scaled', 2);
      await scene.apply(web, scene.policyFor(web, { placement: only('oak', 'alder') }));
      await scene.placed('scaled-deployment', ['alder', 'oak']);
      await scene.fleet
        .member('oak')
        .resource(HORIZONTAL_POD_AUTOSCALERS_V1)
        .create(autoscaler(scene.ref('scaled')));
      await scene.inMember('oak', DEPLOYMENTS, 'scaled', ({ spec }) => spec?.replicas === 3);
      const seen = await replicasDuring(async () => {
        await scene.kubectl('label', 'deployment', 'scaled', 'colour=green');
        await scene.inMember('oak', DEPLOYMENTS, 'scaled', ({ metadata }) => metadata?.labels?.['colour'] === 'green');
        await oak('patch', 'hpa', 'scaled', '--type=merge', '-p', '{"spec":{"minReplicas":4}}');
        await scene.inMember('oak', DEPLOYMENTS, 'scaled', ({ status }) => status?.readyReplicas === 4);
        await scene.kubectl('label', 'deployment', 'scaled', 'colour=blue', '--overwrite');
        await scene.inMember('oak', DEPLOYMENTS, 'scaled', ({ metadata }) => metadata?.labels?.['colour'] === 'blue');
      });
      assert.deepEqual(seen, [3, 4], 'nobody scaled it back');
      await scene.inMember('alder', DEPLOYMENTS, 'scaled', ({ spec }) => spec?.replicas === 2);
      const diff = ['diff', 'deploy/scaled', '-n', scene.namespace, '-C', 'oak'];
      assert.equal(await runAster(diff, { KUBECONFIG: scene.fleet.kubeconfig }), '', 'nor would it be');
    });

    test('what a member’s API server assigns stays: node port and cluster IP', async () => {
      const service = {
        apiVersion: 'v1',
        kind: 'Service',
        metadata: scene.ref('open'),
        spec: { type: 'NodePort', selector: { app: 'open' }, ports: [{ name: 'http', port: 80 }] },
      };
      await scene.apply(service, scene.policyFor(service, { placement: only('oak', 'alder') }));
      await scene.placed('open-service', ['alder', 'oak']);
      const assigned = async (cluster: string, port: number): Promise<unknown[]> => {
        const { spec } = await scene.inMember(
          cluster,
          SERVICES,
          'open',
          (live) => live.spec?.ports?.[0]?.targetPort === port,
        );
        return [spec?.clusterIP, spec?.ports?.[0]?.nodePort];
      };
      const before = await Promise.all(['oak', 'alder'].map((cluster) => assigned(cluster, 80)));
      assert.ok(before.flat().every(Boolean), JSON.stringify(before));
      await scene.kubectl('patch', 'service', 'open', '--type=json', '-p', JSON.stringify(TARGET_8080));
      const after = await Promise.all(['oak', 'alder'].map((cluster) => assigned(cluster, 8080)));
      assert.deepEqual(
        after.map(([ip]) => ip),
        before.map(([ip]) => ip),
      );
      assert.deepEqual(
        after.map(([, port]) => port),
        before.map(([, port]) => port),
      );
    });

    /** Every number of replicas that the Deployment was given in oak meanwhile, one after the other. */
    async function replicasDuring(act: () => Promise<void>): Promise<number[]> {
      const over = new AbortController();
      const seen: number[] = [];
      const watching = (async () => {
        const options = { namespace: scene.namespace, fieldSelector: 'metadata.name=scaled', signal: over.signal };
        for await (const event of watchResource(scene.fleet.member('oak').resource(DEPLOYMENTS), options)) {
          if (event.type !== 'Apply' && event.type !== 'InitApply') continue;
          const replicas = event.object.spec?.replicas ?? 0;
          if (seen.at(-1) !== replicas) seen.push(replicas);
        }
      })();
      try {
        await act();
      } finally {
        over.abort();
        await watching;
      }
      return seen;
    }
  });
}

/** Of the Deployment of its name; below the minimum it scales without any metrics. */
function autoscaler(metadata: { namespace: string; name: string }): HorizontalPodAutoscalerV1 {
  const scaleTargetRef = { apiVersion: 'apps/v1', kind: 'Deployment', name: metadata.name };
  return {
    apiVersion: 'autoscaling/v1',
    kind: 'HorizontalPodAutoscaler',
    metadata,
    spec: { scaleTargetRef, minReplicas: 3, maxReplicas: 5, targetCPUUtilizationPercentage: 80 },
  };
}
