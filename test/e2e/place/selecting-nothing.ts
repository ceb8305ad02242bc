import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { PROPAGATION_POLICIES } from '@asterism/fleet/api';
import { findCondition } from '@asterism/machinery';
import { until } from '../../cluster/until.ts';
import type { PlacingFleet } from '../../cluster/placing/placing-fleet.ts';
import { Scene } from '../../cluster/placing/scene.ts';

const SECRET = { apiVersion: 'v1', kind: 'Secret' };

/** @param refuses - `everything`, or only what a schema can say. What is let in is told in the policy's status. */
export function selectingNothing(fleet: () => PlacingFleet, refuses: 'everything' | 'bySchema'): void {
  describe('a policy that can select nothing', () => {
    let scene: Scene;
    before(async () => {
      scene = await Scene.open(fleet(), 'nothing');
    });

    test('is refused, with the field', async () => {
      const labelSelector = { matchExpressions: [{ key: 'a b', operator: 'Exists' as const }] };
      const unreadable = scene.policy('unreadable', { resourceSelectors: [{ ...SECRET, labelSelector }] });
      await assert.rejects(
        scene.apply(unreadable),
        /spec\.resourceSelectors(\[0\])?\.labelSelector\.matchExpressions(\[0\])?\.key: Invalid value: "a b"/,
      );
      const empty = { matchExpressions: [{ key: 'a', operator: 'In' as const }] };
      const without = scene.policy('without', { resourceSelectors: [{ ...SECRET, labelSelector: empty }] });
      await assert.rejects(scene.apply(without), /spec\.resourceSelectors(\[0\])?\.labelSelector\.matchExpressions/);
    });

    test('for its namespace, or its keys, is refused or says so', async () => {
      const elsewhere = scene.policy('elsewhere', { resourceSelectors: [{ ...SECRET, namespace: 'default' }] });
      const labelSelector = { matchLabels: { 'a b': 'c' } };
      const unread = scene.policy('unread', { resourceSelectors: [{ ...SECRET, labelSelector }] });
      const rows = [
        [elsewhere, /spec\.resourceSelectors\[0\]\.namespace: Invalid value: "default"/],
        [unread, /spec\.resourceSelectors\[0\]\.labelSelector: Invalid value: .*"a b"/],
      ] as const;
      for (const [policy, why] of rows) {
        if (refuses === 'everything') await assert.rejects(scene.apply(policy), why);
        else {
          await scene.apply(policy);
          const told = await until(
            scene.fleet.client,
            PROPAGATION_POLICIES,
            scene.ref(policy.metadata.name ?? ''),
            ({ status }) => findCondition(status?.conditions, 'Valid')?.status === 'False',
          );
          assert.match(findCondition(told.status?.conditions, 'Valid')?.message ?? '', why);
        }
      }
    });
  });
}
