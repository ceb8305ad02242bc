import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KubeObject } from '@asterism/machinery';
import { encodeObject, StoredObject } from '../storage/stored-object.ts';
import { ServedVersion } from './served-version.ts';
import type { Conversion } from '../contract/conversion.ts';

function widgets(fromStorage: Conversion['fromStorage']): ServedVersion {
  return new ServedVersion({
    type: { group: 'example.com', version: 'v1', resource: 'widgets', kind: 'Widget', namespaced: true },
    singular: 'widget',
    verbs: ['get'],
    storage: 'custom',
    strategy: {},
    conversion: { fromStorage, toStorage: (object) => object },
  });
}

function stored(): StoredObject {
  const object: KubeObject = { kind: 'Widget', apiVersion: 'example.com/v1', metadata: { name: 'a', namespace: 'ns' } };
  return new StoredObject(encodeObject(object, 7), 7);
}

test('an object that its version leaves as it is stored is shown as that, without bytes of its own', () => {
  const kept = stored();
  assert.equal(widgets((object) => object).view(kept), kept);
});

test('a converted object has bytes of its own, made once, and is not kept parsed beside them', () => {
  const kept = stored();
  const version = widgets((object) => ({ ...object, apiVersion: 'example.com/v2' }));
  const view = version.view(kept);
  assert.equal(view, version.view(kept));
  assert.equal(view.revision, 7);
  assert.equal(view.parse().apiVersion, 'example.com/v2');
  assert.notEqual(view.parse(), view.parse());
});

test('what a version has made itself is shown as it is stored, and not converted once more', () => {
  const kept = stored();
  const version = widgets(() => {
    throw new Error('it is not to be asked for');
  });
  kept.madeBy = version;
  assert.equal(version.view(kept), kept);
});
