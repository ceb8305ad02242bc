import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { applied, configMap, conflictOf, entry } from './testing/apply-config-map.ts';

describe('kubectl takes over from its client-side applies', () => {
  const ANNOTATION = 'kubectl.kubernetes.io/last-applied-configuration';
  const lastApplied = JSON.stringify(configMap({ a: '1' }));
  const live = configMap({ a: '1', b: '1' }, [
    entry('kubectl-client-side-apply', { 'f:data': { 'f:a': {}, 'f:b': {} } }, { operation: 'Update' }),
  ]);
  live.metadata = { ...live.metadata, annotations: { [ANNOTATION]: lastApplied } };

  test('without a conflict over what it applied before; the annotation follows', () => {
    const { data, metadata } = applied({ live, manager: 'kubectl', applied: configMap({ a: '2' }) });
    assert.deepEqual(data, { a: '2', b: '1' });
    const annotation = '{"apiVersion":"v1","data":{"a":"2"},"kind":"ConfigMap","metadata":{"name":"c"}}\n';
    assert.equal(metadata?.annotations?.[ANNOTATION], annotation);
  });
  test('with one over anything else', () => {
    const { message } = conflictOf({ live, manager: 'kubectl', applied: configMap({ a: '2', b: '2' }) });
    assert.match(message, /^Apply failed with 1 conflict: .* using v1: \.data\.b$/);
  });
  test('with one where that was in another version', () => {
    const other = lastApplied.replace('"v1"', '"v0"');
    const before = { ...live, metadata: { ...live.metadata, annotations: { [ANNOTATION]: other } } };
    assert.match(
      conflictOf({ live: before, manager: 'kubectl', applied: configMap({ a: '2' }) }).message,
      /: \.data\.a$/,
    );
  });
  test('and nobody else does', () => {
    assert.match(conflictOf({ live, applied: configMap({ a: '2' }) }).message, /: \.data\.a$/);
  });
});
