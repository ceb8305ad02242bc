import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import {
  CLUSTERS,
  clusterNamespace,
  NOT_READY_TAINT,
  type ResourceBinding,
  type Taint,
  type Toleration,
  UNREACHABLE_TAINT,
  WORKS,
} from '@asterism/fleet/api';
import { CONFIG_MAPS, type KubeObject } from '@asterism/machinery';
import { until } from '../../cluster/until.ts';
import { untilGone } from '../../cluster/until-gone.ts';
import type { PlacingFleet } from '../../cluster/placing/placing-fleet.ts';
import { only, Scene } from '../../cluster/placing/scene.ts';

const AWAY = ['cedar', 'oak'];

/** So that what is new is meant for a missing member, whether or not the hub has found out by then that it is not ready. */
const OF_HEALTH: Toleration[] = [NOT_READY_TAINT, UNREACHABLE_TAINT].map((key) => ({ key, operator: 'Exists' }));
const isOfHealth = (taint: Taint): boolean => OF_HEALTH.some(({ key }) => key === taint.key);

/**
 * Members that are away while things are made, changed and deleted: `cedar` has stopped, `oak` is killed (-9), or frozen with its
 * connections open.
 */
export function away(fleet: () => PlacingFleet, how: 'killed' | 'frozen'): void {
  describe(`while one member has stopped and one is ${how}`, () => {
    let scene: Scene;
    const of = (name: string, text: string): KubeObject => scene.configMap(name, { data: { text } });
    const saying = (cluster: string, name: string, text: string): Promise<KubeObject> =>
      scene.inMember(cluster, CONFIG_MAPS, name, ({ data }) => data?.['text'] === text);

    /** Places an object that does not tolerate the taints of the two members. */
    const placeLate = async (): Promise<void> => {
      for (const name of AWAY) {
        await until(scene.fleet.client, CLUSTERS, { name }, ({ spec }) => spec.taints?.some(isOfHealth) === true);
      }
      const late = of('late', 'meanwhile');
      await scene.apply(late, scene.policyFor(late, { placement: only('alder', 'cedar', 'oak') }));
      await scene.placed('late-configmap', ['alder']);
    };

    before(async () => {
      scene = await Scene.open(fleet(), `away-${how}`);
      const placed = ['changed', 'deleted', 'moved', 'untouched'].flatMap((name) => {
        const map = of(name, 'before');
        return [map, scene.policyFor(map, { placement: only('alder', 'cedar', 'oak') })];
      });
      await scene.apply(...placed);
      for (const name of ['changed', 'deleted', 'moved', 'untouched']) {
        await scene.placed(`${name}-configmap`, ['alder', 'cedar', 'oak']);
      }
      const { apiServer } = fleet().oak.controlPlane;
      await Promise.all([fleet().simulated('cedar').stop(), how === 'killed' ? apiServer.kill() : apiServer.freeze()]);
      const made = of('made', 'meanwhile');
      await scene.apply(
        made,
        scene.policyFor(made, { placement: { ...only('alder', 'cedar', 'oak'), clusterTolerations: OF_HEALTH } }),
        of('changed', 'meanwhile'),
      );
      await scene.apply(scene.policyFor(of('moved', 'before'), { placement: only('alder') }));
      await scene.kubectl('delete', 'configmap', 'deleted');
    });

    test('the other member receives every change at once, and the hub names the two', async () => {
      await saying('alder', 'made', 'meanwhile');
      await saying('alder', 'changed', 'meanwhile');
      await scene.goneFrom('alder', CONFIG_MAPS, 'deleted');
      const reported = ({ status }: ResourceBinding) => status?.aggregatedStatus?.map(({ clusterName }) => clusterName);
      await scene.binding(
        'made-configmap',
        (it) => appliedIn(it.status) === 'alder' && reported(it)?.length === AWAY.length + 1,
      );
    });

    test('objects that do not tolerate their taints are placed in the other member', placeLate);

    test('when they are back they receive what they missed, and nothing else is written', async () => {
      const { oak } = fleet();
      await placeLate();
      const untouched = (await fleet().writesInOak(scene.ref('untouched'))).length;
      const returning = how === 'killed' ? oak.controlPlane.startAgain() : oak.controlPlane.apiServer.thaw();
      await Promise.all([fleet().simulated('cedar').startAgain(), returning]);
      for (const cluster of AWAY) {
        await saying(cluster, 'made', 'meanwhile');
        await saying(cluster, 'changed', 'meanwhile');
        await scene.goneFrom(cluster, CONFIG_MAPS, 'deleted');
        await scene.goneFrom(cluster, CONFIG_MAPS, 'moved');
        await saying(cluster, 'untouched', 'before');
        const work = { namespace: clusterNamespace(cluster), name: `${scene.namespace}.deleted-configmap` };
        await untilGone(fleet().client, WORKS, work);
      }
      for (const name of ['made', 'changed', 'late'])
        await scene.placed(`${name}-configmap`, ['alder', 'cedar', 'oak']);
      await scene.placed('moved-configmap', ['alder']);
      assert.equal((await fleet().writesInOak(scene.ref('untouched'))).length, untouched);
    });
  });
}

function appliedIn(status: { aggregatedStatus?: { clusterName: string; applied?: boolean }[] } | undefined): string {
  return (status?.aggregatedStatus ?? [])
    .filter(({ applied }) => applied)
    .map(({ clusterName }) => clusterName)
    .join();
}
