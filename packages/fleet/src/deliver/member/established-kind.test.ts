import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { KubeObject } from '@asterism/machinery';
import type { ManifestStatus, Work } from '../../api/index.ts';
import { establishedKind, isToBeEstablished } from './established-kind.ts';
import { worksOfKind } from './other-works.ts';

const definition = (established?: 'True' | 'False'): KubeObject => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'widgets.example.com' },
  spec: { group: 'example.com', names: { kind: 'Widget', plural: 'widgets' }, versions: [] },
  status: { conditions: established ? [{ type: 'Established', status: established }] : [] },
});

describe('establishedKind', () => {
  const widget = { group: 'example.com', kind: 'Widget' };
  const rows: { name: string; before?: KubeObject; after: KubeObject; kind: object | undefined }[] = [
    { name: 'comes established', after: definition('True'), kind: widget },
    { name: 'comes', after: definition(), kind: undefined },
    { name: 'is established now', before: definition('False'), after: definition('True'), kind: widget },
    { name: 'was established before', before: definition('True'), after: definition('True'), kind: undefined },
    { name: 'is established no more', before: definition('True'), after: definition('False'), kind: undefined },
    { name: 'another kind', after: { ...definition('True'), kind: 'ConfigMap', apiVersion: 'v1' }, kind: undefined },
  ];
  for (const { name, before, after, kind } of rows)
    test(name, () => assert.deepEqual(establishedKind(before, after), kind));
});

describe('isToBeEstablished', () => {
  const told: ManifestStatus = {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    name: 'widgets.example.com',
    applied: true,
    health: 'Unhealthy',
  };
  const rows: { name: string; status: ManifestStatus; expected: boolean }[] = [
    { name: 'a definition that was just made', status: told, expected: true },
    { name: 'one that is established', status: { ...told, health: 'Healthy' }, expected: false },
    { name: 'one that was refused', status: { ...told, applied: false }, expected: false },
    { name: 'anything else', status: { ...told, kind: 'PersistentVolumeClaim' }, expected: false },
  ];
  for (const { name, status, expected } of rows) test(name, () => assert.equal(isToBeEstablished(status), expected));
});

test('the Works of a kind are those with an object of it, in any version', () => {
  const work = (name: string, apiVersion: string, kind: string): Work => ({
    apiVersion: 'asterism.dev/v1alpha1',
    kind: 'Work',
    metadata: { name },
    spec: { manifests: [{ apiVersion, kind, metadata: { name: 'x' } }] },
  });
  const works = [
    work('yes', 'example.com/v1', 'Widget'),
    work('older', 'example.com/v1beta1', 'Widget'),
    work('other-kind', 'example.com/v1', 'Gear'),
    work('other-group', 'example.org/v1', 'Widget'),
  ];
  const found = worksOfKind(works, { group: 'example.com', kind: 'Widget' });
  assert.deepEqual(
    found.map(({ metadata }) => metadata.name),
    ['yes', 'older'],
  );
});
