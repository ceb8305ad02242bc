import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { openTestRegistry } from '../../compose/testing/test-registry.ts';
import { horizontalPodAutoscalerV1 } from './v1.ts';

const PREFIX = 'autoscaling.alpha.kubernetes.io/';
const TARGET = { kind: 'Deployment', name: 'web', apiVersion: 'apps/v1' };
const SELECTOR = { matchLabels: { a: 'b' } };
const V1 = 'autoscaling/v1/horizontalpodautoscalers';
const V2 = 'autoscaling/v2/horizontalpodautoscalers';
const CONDITION = { type: 'AbleToScale', status: 'True', lastTransitionTime: '2026-01-01T00:00:00Z', reason: 'x' };

function annotated(annotations: Record<string, unknown> | undefined): unknown {
  return Object.fromEntries(
    Object.entries(annotations ?? {}).map(([key, text]) => [key.replace(PREFIX, ''), JSON.parse(String(text))]),
  );
}

describe('autoscaling/v1 says by annotations what its fields cannot', () => {
  for (const [what, v2, v1] of [
    [
      'a resource other than the CPU',
      { type: 'Resource', resource: { name: 'memory', target: { type: 'AverageValue', averageValue: '1Gi' } } },
      { type: 'Resource', resource: { name: 'memory', targetAverageValue: '1Gi' } },
    ],
    [
      'a container',
      {
        type: 'ContainerResource',
        containerResource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 5 }, container: 'c' },
      },
      { type: 'ContainerResource', containerResource: { name: 'cpu', targetAverageUtilization: 5, container: 'c' } },
    ],
    [
      'pods',
      {
        type: 'Pods',
        pods: { metric: { name: 'm', selector: SELECTOR }, target: { type: 'AverageValue', averageValue: '3' } },
      },
      { type: 'Pods', pods: { metricName: 'm', targetAverageValue: '3', selector: SELECTOR } },
    ],
    [
      'an object',
      {
        type: 'Object',
        object: { describedObject: TARGET, metric: { name: 'm' }, target: { type: 'Value', value: '3' } },
      },
      { type: 'Object', object: { target: TARGET, metricName: 'm', targetValue: '3' } },
    ],
    [
      'what is outside',
      {
        type: 'External',
        external: { metric: { name: 'm', selector: SELECTOR }, target: { type: 'Value', value: '3' } },
      },
      { type: 'External', external: { metricName: 'm', metricSelector: SELECTOR, targetValue: '3' } },
    ],
  ] as const) {
    test(`a metric of ${what}, there and back`, () => {
      const stored = { apiVersion: 'autoscaling/v2', metadata: { name: 'x' }, spec: { metrics: [v2] } };
      const shown = horizontalPodAutoscalerV1.fromStorage(stored);
      assert.deepEqual(annotated(shown.metadata?.annotations), { metrics: [v1] });
      assert.deepEqual((horizontalPodAutoscalerV1.toStorage(shown).spec as { metrics: object[] }).metrics, [v2]);
    });
  }

  test('its controller writes conditions and measurements of today', async () => {
    await using t = await openTestRegistry();
    await t.create(V1, { metadata: { name: 'x' }, spec: { scaleTargetRef: TARGET, maxReplicas: 3 } });
    const seen = await t.get(V1, 'x');
    const measured = [
      { type: 'Resource', resource: { name: 'cpu', currentAverageUtilization: 7, currentAverageValue: '1' } },
    ];
    const annotations = {
      [`${PREFIX}conditions`]: JSON.stringify([CONDITION]),
      [`${PREFIX}current-metrics`]: JSON.stringify(measured),
      // Not the status' to say.
      [`${PREFIX}behavior`]: '{"scaleUp":{"selectPolicy":"Min"}}',
    };
    const status = { currentReplicas: 1, desiredReplicas: 2 };
    const written = { ...seen, metadata: { ...seen.metadata, annotations }, status };
    const context = t.context({ namespace: 'default', name: 'x', subresource: 'status' });
    await t.registry.update(t.resource(V1), { namespace: 'default', name: 'x' }, written, context);
    const today = await t.get(V2, 'x');
    assert.deepEqual(today.status, {
      currentMetrics: [
        { type: 'Resource', resource: { name: 'cpu', current: { averageUtilization: 7, averageValue: '1' } } },
      ],
      ...status,
      conditions: [CONDITION],
    });
    assert.equal((today.spec as { behavior?: object }).behavior, undefined);
    assert.equal(today.metadata?.annotations, undefined);
    const old = await t.get(V1, 'x');
    assert.deepEqual(annotated(old.metadata?.annotations), { conditions: [CONDITION], 'current-metrics': measured });
    assert.equal((old.status as { currentCPUUtilizationPercentage?: number }).currentCPUUtilizationPercentage, 7);
  });

  test('who changes the spec leaves them alone', async () => {
    await using t = await openTestRegistry();
    const metadata = { name: 'x', annotations: { [`${PREFIX}conditions`]: JSON.stringify([CONDITION]) } };
    const spec = { scaleTargetRef: TARGET, maxReplicas: 3 };
    await t.create(V1, { metadata, spec });
    assert.equal((await t.get(V2, 'x')).status?.['conditions' as never], undefined);
    const seen = await t.get(V1, 'x');
    const changed = { ...seen, metadata: { ...seen.metadata, annotations: metadata.annotations }, spec };
    const context = t.context({ namespace: 'default', name: 'x' });
    await t.registry.update(t.resource(V1), { namespace: 'default', name: 'x' }, changed, context);
    assert.equal((await t.get(V1, 'x')).metadata?.annotations, undefined);
  });

  describe('what cannot be read is as if it were not there', () => {
    const rows: readonly (readonly [key: string, text: string])[] = [
      ['metrics', '[{"type":"Pods","pods":{"metricName":"a","selector":{"matchExpressions":"x"}}}]'],
      ['metrics', '[{"type":"Resource","resource":{"name":"cpu","targetAverageUtilization":"x"}}]'],
      ['metrics', '[{"type":"Object","object":5}]'],
      ['metrics', '[5]'],
      ['behavior', '{"scaleUp":5}'],
      ['behavior', '{"scaleDown":{"policies":[{"value":"x"}]}}'],
    ];
    for (const [key, text] of rows) {
      test(`${key}: ${text}`, async () => {
        await using t = await openTestRegistry();
        const metadata = { name: 'x', annotations: { [`${PREFIX}${key}`]: text } };
        await t.create(V1, { metadata, spec: { scaleTargetRef: TARGET, maxReplicas: 3 } });
        const { metrics, behavior } = (await t.get(V2, 'x')).spec as { metrics: object[]; behavior?: object };
        assert.equal(metrics.length, 1);
        assert.equal(behavior, undefined);
      });
    }
  });
});
