import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { BUILTIN_RESOURCES } from '../generated/index.ts';
import { objectMetaSchema, schemaOfKind } from './builtin-schemas.ts';

const DEPLOYMENT = { group: 'apps', version: 'v1', kind: 'Deployment' };

test('every built-in resource has a schema, compiled once', () => {
  for (const { group, version, kind } of BUILTIN_RESOURCES) {
    const schema = schemaOfKind({ group, version, kind });
    assert.ok(schema, `${group}/${version} ${kind}`);
    assert.equal(schemaOfKind({ group, version, kind }), schema);
  }
  assert.equal(schemaOfKind({ group: 'example.com', version: 'v1', kind: 'Deployment' }), undefined);
});

describe('references are followed, and what stands beside them counts', () => {
  const spec = schemaOfKind(DEPLOYMENT)!.field('spec')!;
  const container = spec.field('template')!.field('spec')!.field('containers')!;

  test('names are those of Go types', () => {
    assert.equal(spec.name, 'DeploymentSpec');
    assert.equal(container.items!.name, 'Container');
    assert.equal(spec.field('replicas')!.name, '');
  });
  test('lists by key', () => {
    const { listType, listMapKeys, patchMergeKey, patchStrategies } = container;
    assert.deepEqual(
      { listType, listMapKeys, patchMergeKey, patchStrategies },
      { listType: 'map', listMapKeys: ['name'], patchMergeKey: 'name', patchStrategies: ['merge'] },
    );
    assert.deepEqual(container.items!.field('ports')!.listMapKeys, ['containerPort', 'protocol']);
  });
  test('several strategies', () => {
    assert.deepEqual(spec.field('strategy')!.patchStrategies, ['retainKeys']);
    const volumes = spec.field('template')!.field('spec')!.field('volumes')!;
    assert.deepEqual(volumes.patchStrategies, ['merge', 'retainKeys']);
  });
  test('maps that are taken whole', () => {
    assert.equal(spec.field('selector')!.mapType, 'atomic');
    assert.equal(spec.field('template')!.mapType, 'granular');
  });
  test('a type that contains itself', () => {
    const schema = schemaOfKind({ group: 'apiextensions.k8s.io', version: 'v1', kind: 'CustomResourceDefinition' })!;
    const props = schema.field('spec')!.field('versions')!.items!.field('schema')!.field('openAPIV3Schema')!;
    assert.equal(props.field('not')!.field('not'), props.field('not'));
    assert.equal(props.field('not')!.field('default')!.preserveUnknown, true);
    assert.equal(props.field('properties')!.additional, props.field('not'));
  });
  test('values of any type', () => {
    const container = schemaOfKind({ group: '', version: 'v1', kind: 'Pod' })!.field('spec')!.field('containers')!
      .items!;
    assert.equal(container.field('ports')!.items!.field('hostPort')!.intOrString, false);
    assert.equal(container.field('livenessProbe')!.field('httpGet')!.field('port')!.intOrString, true);
    const revision = schemaOfKind({ group: 'apps', version: 'v1', kind: 'ControllerRevision' })!;
    assert.equal(revision.field('data')!.preserveUnknown, true);
    assert.equal(revision.field('data')!.mapType, 'atomic');
  });
});

test('what a Go struct always has', () => {
  assert.deepEqual(schemaOfKind(DEPLOYMENT)!.zero!['status'], {});
  assert.equal(objectMetaSchema().zero, undefined);
  const condition = schemaOfKind(DEPLOYMENT)!.field('status')!.field('conditions')!.items!;
  assert.deepEqual(condition.zero, { lastUpdateTime: null, lastTransitionTime: null, status: '', type: '' });
});
