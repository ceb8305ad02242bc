import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { KubeObject } from '../object.ts';
import { applied, configMap, conflictOf, DEPLOYMENT, entry } from './testing/apply-config-map.ts';

describe('conflicts', () => {
  const one = applied({ applied: configMap({ a: '1', b: '1' }) });

  test('one is told in one line, as people know it from kubectl', () => {
    const live: KubeObject & { spec: unknown } = {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: {
        name: 'web',
        managedFields: [
          entry(
            'kubectl-client-side-apply',
            { 'f:spec': { 'f:replicas': {} } },
            { operation: 'Update', apiVersion: 'apps/v1' },
          ),
        ],
      },
      spec: { replicas: 1 },
    };
    const wanted = { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'web' }, spec: { replicas: 2 } };
    assert.deepEqual(conflictOf({ live, applied: wanted, schema: DEPLOYMENT }).status, {
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      message: 'Apply failed with 1 conflict: conflict with "kubectl-client-side-apply" using apps/v1: .spec.replicas',
      reason: 'Conflict',
      details: {
        causes: [
          {
            reason: 'FieldManagerConflict',
            message: 'conflict with "kubectl-client-side-apply" using apps/v1',
            field: '.spec.replicas',
          },
        ],
      },
      code: 409,
    });
  });

  test('several are listed by owner', () => {
    const live = applied({ live: one, manager: 'you', applied: configMap({ a: '1', c: '1' }) });
    const { message, status } = conflictOf({ live, manager: 'they', applied: configMap({ a: '2', b: '2', c: '2' }) });
    assert.equal(
      message,
      'Apply failed with 4 conflicts: conflicts with "me":\n- .data.a\n- .data.b\nconflicts with "you":\n- .data.a\n- .data.c',
    );
    assert.equal(status.details?.causes?.length, 4);
  });

  test('the subresource through which a field was written is named', () => {
    const live = configMap({ a: '1' }, [
      entry('hpa', { 'f:data': { 'f:a': {} } }, { operation: 'Update', subresource: 'scale' }),
    ]);
    assert.equal(
      conflictOf({ live, applied: configMap({ a: '2' }) }).message,
      'Apply failed with 1 conflict: conflict with "hpa" with subresource "scale" using v1: .data.a',
    );
  });

  test('an equal value is shared', () => {
    const { metadata } = applied({ live: one, manager: 'you', applied: configMap({ a: '1' }) });
    // Of an apply that changes nothing no time is kept, and so its entry comes first.
    const { time: _, ...shared } = entry('you', { 'f:data': { 'f:a': {} } });
    assert.deepEqual(metadata?.managedFields, [shared, entry('me', { 'f:data': { 'f:a': {}, 'f:b': {} } })]);
  });

  test('force takes the field', () => {
    const { metadata, data } = applied({ live: one, manager: 'you', force: true, applied: configMap({ a: '2' }) });
    assert.deepEqual(data, { a: '2', b: '1' });
    assert.deepEqual(metadata?.managedFields, [
      entry('me', { 'f:data': { 'f:b': {} } }),
      entry('you', { 'f:data': { 'f:a': {} } }),
    ]);
  });
});
