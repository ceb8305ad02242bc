import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { finishSteps, type KubeObject } from '@asterism/machinery';
import { overrideField as overrideFieldInSteps } from './override-field.ts';
import { OverrideTexts } from './override-texts.ts';

async function overrideField(...given: Parameters<typeof overrideFieldInSteps>) {
  const begun = await overrideFieldInSteps(...given);
  return 'next' in begun ? finishSteps(begun) : begun;
}

type Overrider = Parameters<typeof overrideField>[1];

const base64 = (text: string) => Buffer.from(text).toString('base64');
const configMap = (text: unknown): KubeObject => ({ apiVersion: 'v1', kind: 'ConfigMap', data: { 'a/b.txt': text } });
const secret = (text: string): KubeObject => ({ apiVersion: 'v1', kind: 'Secret', data: { 'a/b.txt': text } });
const textOf = (object: KubeObject) => (object['data'] as Record<string, unknown>)['a/b.txt'];
const fieldPath = '/data/a~1b.txt';

describe('a field that is a text', () => {
  const texts = new OverrideTexts();

  const done: { name: string; object: KubeObject; overrider: Overrider; text: string }[] = [
    {
      name: 'YAML keeps its comments',
      object: configMap('# who\nlog: {level: info} # how much\nport: 80\n'),
      overrider: { fieldPath, yaml: [{ subPath: '/log/level', operator: 'replace', value: 'debug' }] },
      text: '# who\nlog: {level: debug} # how much\nport: 80\n',
    },
    {
      name: 'YAML, several operations and a merge patch, in this order',
      object: configMap('a: 1\nb:\n  - x\n'),
      overrider: {
        fieldPath,
        yaml: [
          { subPath: '/b/-', operator: 'add', value: 'y' },
          { subPath: '/a', operator: 'remove' },
        ],
        yamlMergePatch: { c: { d: true }, b: ['z'] },
      },
      text: 'b:\n  - z\nc:\n  d: true\n',
    },
    {
      name: 'JSON stays JSON, with its indentation and numbers',
      object: configMap('{\n    "a": 12345678901234567890,\n    "b": [1.0]\n}\n'),
      overrider: { fieldPath, json: [{ subPath: '/c', operator: 'add', value: 'x' }] },
      text: '{\n    "a": 12345678901234567890,\n    "b": [\n        1.0\n    ],\n    "c": "x"\n}\n',
    },
    {
      name: 'a merge patch over a JSON number that is no double',
      object: configMap('{"a":1.0,"b":1.0}'),
      overrider: { fieldPath, jsonMergePatch: { a: { c: 1 }, d: null } },
      text: '{"a":{"c":1},"b":1.0}',
    },
    {
      name: 'JSON, by a merge patch that is a text itself',
      object: configMap('{"a":1,"b":2}'),
      overrider: { fieldPath, jsonMergePatch: 'a: null' },
      text: '{"b":2}',
    },
    {
      name: 'a text of a Secret',
      object: secret(base64('password: x\nuser: ü\n')),
      overrider: { fieldPath, yaml: [{ subPath: '/password', operator: 'replace', value: 'z' }] },
      text: base64('password: z\nuser: ü\n'),
    },
  ];
  for (const { name, object, overrider, text } of done) {
    test(name, async () => {
      const step = await overrideField(object, overrider, texts);
      assert.deepEqual([step.noEffect, step.failed], [[], []]);
      assert.equal(textOf(step.object), text);
    });
  }

  const json = [{ subPath: '/a', operator: 'replace' as const, value: 'new' }];
  const faults: { name: string; object: KubeObject; overrider: Overrider; fault: RegExp }[] = [
    {
      name: 'absent',
      object: { kind: 'X' },
      overrider: { fieldPath, json },
      fault: /^there is nothing at \/data\/a~1b.txt$/,
    },
    {
      name: 'no text',
      object: configMap({ a: 1 }),
      overrider: { fieldPath, json },
      fault: /^what stands at .* is no text$/,
    },
    { name: 'no JSON', object: configMap('hush: 1'), overrider: { fieldPath, json }, fault: /: is not JSON$/ },
    {
      name: 'no YAML',
      object: configMap('a: 1\nb: hush: x\n'),
      overrider: { fieldPath, yaml: json },
      fault: /: is not one document of YAML: see its line 2$/,
    },
    {
      name: 'two documents',
      object: configMap('a: 1\n---\na: 2\n'),
      overrider: { fieldPath, yaml: json },
      fault: /: is not one document of YAML/,
    },
    {
      name: 'aliases without end',
      object: configMap(
        [
          'a0: &a0 [x]',
          ...Array.from({ length: 8 }, (_, at) => `a${at + 1}: &a${at + 1} [${`*a${at},`.repeat(9)}]`),
        ].join('\n'),
      ),
      overrider: { fieldPath, yaml: json },
      fault: /: is not YAML whose aliases can be followed$/,
    },
    {
      name: 'a list that holds itself',
      object: configMap('a: &a [*a]'),
      overrider: { fieldPath, yaml: json },
      fault: /: is not YAML whose aliases can be followed$/,
    },
    {
      name: 'no such path inside',
      object: configMap('{"b":"hush"}'),
      overrider: { fieldPath, json },
      fault: /: json\[0\]: there is nothing at \/a to replace$/,
    },
    {
      name: 'no such path inside YAML',
      object: configMap('b: hush'),
      overrider: { fieldPath, yaml: [{ subPath: '/b', operator: 'remove' }, ...json] },
      fault: /: yaml\[1\]: there is nothing at \/a to replace$/,
    },
    { name: 'both', object: configMap('{}'), overrider: { fieldPath, json, yaml: json }, fault: /either JSON or YAML/ },
    { name: 'no base64', object: secret('hush!'), overrider: { fieldPath, json }, fault: /is no base64 of a text$/ },
    { name: 'bytes', object: secret('/wD/'), overrider: { fieldPath, json }, fault: /is no base64 of a text$/ },
    {
      name: 'a Secret that is no JSON',
      object: secret(base64('hush')),
      overrider: { fieldPath, json },
      fault: /is not JSON$/,
    },
  ];
  for (const { name, object, overrider, fault } of faults) {
    test(`a fault that quotes nothing: ${name}`, async () => {
      const step = await overrideField(object, overrider, texts);
      assert.equal(step.object, object);
      assert.match(step.failed.join(), fault);
      assert.doesNotMatch(step.failed.join(), /hush/);
    });
  }

  test('told: nothing to change', async () => {
    assert.deepEqual((await overrideField(configMap('{}'), { fieldPath }, texts)).noEffect, [
      'there is nothing to change',
    ]);
  });

  test('a text that was edited before, and another one, by the same overrider', async () => {
    const overrider: Overrider = { fieldPath, yaml: [{ subPath: '/a', operator: 'replace', value: 2 }] };
    const edited: unknown[] = [];
    for (const text of ['a: 1 # x', 'a: 1 # x', 'a: 1 # y', 'b: 1']) {
      const { object, failed } = await overrideField(configMap(text), overrider, texts);
      edited.push(failed[0] ?? textOf(object));
    }
    const fault = `the text at ${fieldPath}: yaml[0]: there is nothing at /a to replace`;
    assert.deepEqual(edited, ['a: 2 # x', 'a: 2 # x', 'a: 2 # y', fault]);
  });
});
