import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { KubeObject } from '@asterism/machinery';
import { aggregateStatus } from './aggregate-status.ts';
import type { MemberReport } from './aggregation.ts';
import { objectsOf, type Status } from './status-fields.ts';
import { isMet } from './testing/kubectl-reads.ts';

const NOW = '2026-01-02T03:04:05Z';
const BEFORE = '2026-01-01T00:00:00Z';

const widget = (status?: Status): KubeObject => ({
  apiVersion: 'example.com/v1',
  kind: 'Widget',
  metadata: { name: 'x', generation: 4 },
  ...(status ? { status } : {}),
});
const report = (cluster: string, status: Status | undefined, rest: Partial<MemberReport> = {}): MemberReport => ({
  cluster,
  status,
  current: true,
  generation: 7,
  ...rest,
});
const aggregate = (object: KubeObject, ...reports: MemberReport[]) =>
  aggregateStatus({ template: object, reports, now: NOW });

const condition = (type: string, status: string, rest: object = {}): Status => ({
  type,
  status,
  reason: `Is${status}`,
  message: `it is ${status}`,
  lastTransitionTime: BEFORE,
  ...rest,
});
const ready = (status: string, rest: object = {}): Status => ({ conditions: [condition('Ready', status, rest)] });

/** The merged conditions in short: `Ready=True IsTrue: it is True`. */
const merged = (...reports: MemberReport[]) =>
  (objectsOf(aggregate(widget(), ...reports), 'conditions') as Record<string, string>[]).map(
    ({ type, status, reason, message }) => `${type}=${status} ${reason}: ${message}`,
  );

describe('conditions of a kind that nothing is known of', () => {
  const rows: [name: string, reports: MemberReport[], expected: string[]][] = [
    [
      'True where all say so',
      [report('ant', ready('True')), report('bee', ready('True'))],
      ['Ready=True IsTrue: it is True'],
    ],
    [
      'False where one does, by name',
      [report('ant', ready('True')), report('bee', ready('False'))],
      ['Ready=False IsFalse: bee: it is False'],
    ],
    [
      'Unknown where one cannot tell',
      [report('ant', ready('True')), report('bee', ready('Unknown'))],
      ['Ready=Unknown IsUnknown: bee: it is Unknown'],
    ],
    [
      'Unknown where one has said nothing',
      [report('ant', ready('True')), report('bee', undefined)],
      ['Ready=Unknown NotToldEverywhere: bee: has not said so yet'],
    ],
    [
      'what is said of before does not count for True',
      [report('ant', ready('True'), { current: false }), report('bee', ready('True', { observedGeneration: 6 }))],
      [
        'Ready=Unknown NotToldEverywhere: ant: has not taken up the last change yet; bee: has not taken up the last change yet',
      ],
    ],
    [
      'but for False',
      [report('ant', ready('False'), { current: false }), report('bee', ready('True'))],
      ['Ready=False IsFalse: ant: it is False'],
    ],
    [
      'each with its own words',
      [report('ant', ready('True', { message: 'one' })), report('bee', ready('True', { message: 'two' }))],
      ['Ready=True IsTrue: ant: one; bee: two'],
    ],
    [
      'what is bad when True is True where one says so',
      [
        report('ant', { conditions: [condition('Stalled', 'True'), condition('SyncFailed', 'False')] }),
        report('bee', ready('True')),
      ],
      [
        'Stalled=True IsTrue: ant: it is True',
        'SyncFailed=False IsFalse: ant: it is False; bee',
        'Ready=Unknown NotToldEverywhere: ant: has not said so yet',
      ],
    ],
  ];
  for (const [name, reports, expected] of rows) test(name, () => assert.deepEqual(merged(...reports), expected));

  test('keep their time while they keep their status, so the same reports give the same status', () => {
    const first = aggregateStatus({ template: widget(), reports: [report('ant', ready('True'))], now: BEFORE });
    assert.deepEqual(aggregate(widget(first), report('ant', ready('True'))), first);
    const [changed] = objectsOf(aggregate(widget(first), report('ant', ready('False'))), 'conditions');
    assert.equal(changed?.['lastTransitionTime'], NOW);
  });

  test('have the fields that their kind gives them, and no other', () => {
    const reports = [report('ant', { conditions: [{ type: 'Ready', status: 'True' }] }), report('bee', ready('True'))];
    assert.deepEqual(aggregate(widget(), reports[0] as MemberReport), {
      conditions: [{ type: 'Ready', status: 'True' }],
    });
    assert.deepEqual(Object.keys(objectsOf(aggregate(widget(), ...reports), 'conditions')[0] ?? {}), [
      'type',
      'status',
      'reason',
      'message',
      'lastTransitionTime',
    ]);
  });
});

describe('other fields of it', () => {
  const rows: { name: string; reports: MemberReport[]; expected: Status | undefined }[] = [
    { name: 'nobody has said anything', reports: [report('ant', undefined)], expected: undefined },
    { name: 'placed nowhere', reports: [], expected: undefined },
    {
      name: 'of one cluster all',
      reports: [report('ant', { phase: 'Good', size: 3, parts: ['a'] })],
      expected: { phase: 'Good', size: 3, parts: ['a'] },
    },
    {
      name: 'of several what is the same; no number, which may be a sum',
      reports: [
        report('ant', { phase: 'Good', size: 3, url: 'a', open: true, parts: ['a'] }),
        report('bee', { phase: 'Good', size: 3, url: 'b', open: true, parts: ['a'] }),
      ],
      expected: { phase: 'Good', open: true },
    },
    {
      name: 'one has said nothing',
      reports: [report('ant', { phase: 'Good' }), report('bee', undefined)],
      expected: {},
    },
    {
      name: 'observedGeneration where all have seen it',
      reports: [report('ant', { observedGeneration: 7 }), report('bee', { observedGeneration: 9 })],
      expected: { observedGeneration: 4 },
    },
    {
      name: 'and not before',
      reports: [report('ant', { observedGeneration: 7 }), report('bee', { observedGeneration: 9 }, { current: false })],
      expected: {},
    },
  ];
  for (const { name, reports, expected } of rows)
    test(name, () => assert.deepEqual(aggregate(widget(), ...reports), expected));

  test('placed nowhere any more: nothing is left of what was told', () => {
    const told = widget({ phase: 'Good', ...ready('True') });
    assert.deepEqual(aggregateStatus({ template: told, reports: [], now: NOW, wasPlaced: true }), {});
  });
});

describe('kubectl wait --for=condition=Ready on the template', () => {
  const waits = (...reports: MemberReport[]) => {
    const before = { observedGeneration: 3, conditions: [condition('Ready', 'True', { observedGeneration: 3 })] };
    return !isMet('Ready', { ...widget(), status: aggregate(widget(before), ...reports) });
  };
  const current = { observedGeneration: 7, ...ready('True', { observedGeneration: 7 }) };

  test('ends when all clusters are ready', () => assert.ok(!waits(report('ant', current), report('bee', current))));
  test('goes on while one is not', () => assert.ok(waits(report('ant', current), report('bee', ready('False')))));
  test('goes on while one has not the last change', () =>
    assert.ok(waits(report('ant', current), report('bee', current, { current: false }))));
  test('goes on while the condition of one speaks of before', () =>
    assert.ok(waits(report('ant', current), report('bee', ready('True', { observedGeneration: 6 })))));
  test('ends for a kind that says nothing of generations too', () => {
    const status = aggregate(widget(), report('ant', ready('True')), report('bee', ready('True')));
    assert.ok(isMet('Ready', { ...widget(), status }));
  });
});
