import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cluster } from '../../place/testing/build.ts';
import { compareApis } from './compare-apis.ts';

test('what clusters serve is compared by group, version and kind', () => {
  const old = cluster('old', { serves: ['v1/Pod', 'batch/v1beta1/CronJob'] });
  const young = cluster('young', { serves: ['v1/Pod', 'batch/v1/CronJob'] });
  const mute = { ...cluster('mute'), status: {} };
  const { kinds, untold } = compareApis([young, old, mute]);
  assert.deepEqual(
    kinds.map(({ apiVersion, resource, clusters, lacking }) => [apiVersion, resource, clusters, lacking]),
    [
      ['v1', 'pods', ['old', 'young'], []],
      ['batch/v1', 'cronjobs', ['young'], ['old']],
      ['batch/v1beta1', 'cronjobs', ['old'], ['young']],
    ],
  );
  assert.deepEqual(untold, ['mute']);
});

test('the same name for another kind, or in another scope, is another', () => {
  const one = cluster('one', { serves: ['example.com/v1/Widget'] });
  const two = structuredClone(one);
  two.metadata.name = 'two';
  two.status!.apis![0]!.resources[0]!.namespaced = false;
  assert.deepEqual(
    compareApis([one, two]).kinds.map(({ namespaced, lacking }) => [namespaced, lacking]),
    [
      [true, ['two']],
      [false, ['one']],
    ],
  );
});

test('no clusters, nothing to compare', () => assert.deepEqual(compareApis([]), { kinds: [], untold: [] }));
