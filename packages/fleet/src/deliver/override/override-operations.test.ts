import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { finishSteps, type KubeObject } from '@asterism/machinery';
import * as inSteps from './override-operations.ts';

const overrideList = (...given: Parameters<typeof inSteps.overrideList>) => finishSteps(inSteps.overrideList(...given));
const overrideMap = (...given: Parameters<typeof inSteps.overrideMap>) => finishSteps(inSteps.overrideMap(...given));
const overridePlaintext = (...given: Parameters<typeof inSteps.overridePlaintext>) =>
  finishSteps(inSteps.overridePlaintext(...given));

const object: KubeObject = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'p', labels: { a: '1' } },
  spec: {
    containers: [{ name: 'c', command: ['sh'], args: ['-a', '-b', '-a'] }],
    'x/y~z': 1,
    list: [1, 2],
    none: null,
  },
};
const spec = ({ spec: it }: KubeObject) => it as Record<string, unknown>;
const containers = (it: KubeObject) => spec(it)['containers'] as Record<string, unknown>[];

describe('command and args', () => {
  test('every equal word is taken out', () => {
    const step = overrideList(object, 'args', { containerName: 'c', operator: 'remove', value: ['-a'] });
    assert.deepEqual(containers(step.object)[0]?.['args'], ['-b']);
  });

  const nothing: [string, Parameters<typeof overrideList>[2], string][] = [
    ['no such container', { containerName: 'd', operator: 'add', value: ['x'] }, 'there is no container d'],
    ['no such word', { containerName: 'c', operator: 'remove', value: ['secret'] }, 'container c has none of these'],
    ['no words', { containerName: 'c', operator: 'add', value: [] }, 'there is nothing to add'],
  ];
  for (const [name, overrider, why] of nothing) {
    test(`told: ${name}`, () => {
      assert.deepEqual(overrideList(object, 'args', overrider), { object, noEffect: [why], failed: [] });
    });
  }
});

describe('labels and annotations', () => {
  test('what is absent is told, the rest is done', () => {
    const step = overrideMap(object, 'labels', { operator: 'remove', value: { a: '', b: '' } });
    assert.deepEqual(step.object.metadata?.labels, {});
    assert.deepEqual([step.noEffect, step.failed], [['there is no b to remove'], []]);
  });

  test('added where there are none', () => {
    const step = overrideMap(object, 'annotations', { operator: 'add', value: { a: '1' } });
    assert.deepEqual(step.object.metadata?.annotations, { a: '1' });
  });
});

describe('plain text', () => {
  type Operation = Parameters<typeof overridePlaintext>[1][number];
  const done: [string, Operation, string, unknown][] = [
    ['escapes', { operator: 'replace', path: '/spec/x~1y~0z', value: 2 }, 'x/y~z', 2],
    ['at the end of a list', { operator: 'add', path: '/spec/list/-', value: 3 }, 'list', [1, 2, 3]],
    ['into a list', { operator: 'add', path: '/spec/list/1', value: 3 }, 'list', [1, 3, 2]],
    ['out of a list', { operator: 'remove', path: '/spec/list/0' }, 'list', [2]],
    ['null', { operator: 'add', path: '/spec/new', value: null }, 'new', null],
    ['what is null', { operator: 'remove', path: '/spec/none' }, 'none', undefined],
    ['move', { operator: 'move', from: '/spec/x~1y~0z', path: '/spec/list/0' }, 'list', [1, 1, 2]],
    ['copy', { operator: 'copy', from: '/spec/list', path: '/spec/new' }, 'new', [1, 2]],
    ['test', { operator: 'test', path: '/spec/list', value: [1, 2] }, 'list', [1, 2]],
  ];
  for (const [name, operation, field, expected] of done) {
    test(name, () => {
      const step = overridePlaintext(object, [operation]);
      assert.deepEqual([spec(step.object)[field], step.failed], [expected, []]);
    });
  }

  const faults: [Operation, string][] = [
    [{ operator: 'replace', path: '/spec/a', value: 1 }, 'there is nothing at /spec/a to replace'],
    [{ operator: 'remove', path: '/spec/list/2' }, 'there is nothing at /spec/list/2 to remove'],
    [{ operator: 'replace', path: '/spec/list/-', value: 1 }, 'there is nothing at /spec/list/- to replace'],
    [{ operator: 'test', path: '/spec/a', value: null }, 'there is nothing at /spec/a to test'],
    [{ operator: 'test', path: '/spec/list', value: 'secret' }, 'JSON patch: the test of "/spec/list" failed'],
    [{ operator: 'add', path: '/spec/a/b', value: 1 }, 'JSON patch: nothing stands at the parent of "/spec/a/b"'],
    [{ operator: 'add', path: '/spec/list/9', value: 1 }, 'JSON patch: "/spec/list/9" is not in the array'],
    [{ operator: 'add', path: '/spec/a' }, 'add /spec/a has no value'],
    [{ operator: 'move', path: '/spec/a' }, 'move /spec/a has no from'],
    [{ operator: 'copy', path: '/spec/a', from: '/spec/b' }, 'there is nothing at /spec/b to copy'],
  ];
  for (const [operation, fault] of faults) {
    test(`a fault: ${fault}`, () => {
      assert.deepEqual(overridePlaintext(object, [operation]), { object, noEffect: [], failed: [fault] });
    });
  }
});
