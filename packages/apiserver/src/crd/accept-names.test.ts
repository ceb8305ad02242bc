import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { acceptNames } from './accept-names.ts';
import type { CustomResourceDefinition, DefinitionNames } from './custom-resource-definition.ts';

const NOW = '2026-01-01T00:00:00Z';
const WANTED: DefinitionNames = {
  plural: 'widgets',
  singular: 'widget',
  kind: 'Widget',
  listKind: 'WidgetList',
  shortNames: ['w', 'wd'],
};

function accepted(names: DefinitionNames): CustomResourceDefinition {
  return { status: { acceptedNames: names } };
}

function conditionsOf(status: CustomResourceDefinition['status'] & object): string[] {
  return (status.conditions ?? []).map(
    ({ type, status: value, reason, message }) => `${type} ${value} ${reason}: ${message}`,
  );
}

describe('names are accepted', () => {
  const rows: [name: string, others: DefinitionNames[], condition: string][] = [
    [
      'where nobody has them',
      [{ plural: 'gadgets', kind: 'Gadget' }],
      'NamesAccepted True NoConflicts: no conflicts found',
    ],
    ['but not a plural', [{ plural: 'widgets' }], 'NamesAccepted False PluralConflict: "widgets" is already in use'],
    [
      'but not a singular',
      [{ shortNames: ['widget'] }],
      'NamesAccepted False SingularConflict: "widget" is already in use',
    ],
    [
      'but not short names, all of which are told',
      [{ plural: 'w' }, { singular: 'wd' }],
      'NamesAccepted False ShortNamesConflict: ["w" is already in use, "wd" is already in use]',
    ],
    ['but not a kind', [{ listKind: 'Widget' }], 'NamesAccepted False KindConflict: "Widget" is already in use'],
    [
      'but not a list kind',
      [{ kind: 'WidgetList' }],
      'NamesAccepted False ListKindConflict: "WidgetList" is already in use',
    ],
  ];
  for (const [name, others, condition] of rows) {
    test(name, () => {
      const status = acceptNames({ spec: { names: WANTED } }, others.map(accepted), NOW);
      assert.equal(conditionsOf(status)[0], condition);
    });
  }

  test('for ever: what another one asks for later is refused to that one', () => {
    const definition = { spec: { names: WANTED }, ...accepted({ ...WANTED, shortNames: ['w', 'wd'] }) };
    const status = acceptNames(definition, [accepted({ ...WANTED, plural: 'others' })], NOW);
    assert.equal(conditionsOf(status)[0], 'NamesAccepted True NoConflicts: no conflicts found');
  });
});

test('a definition in a group of Kubernetes itself says whether it was approved', () => {
  const definition: CustomResourceDefinition = {
    metadata: { annotations: { 'api-approved.kubernetes.io': 'https://example.com/1' } },
    spec: { group: 'x.k8s.io', names: WANTED },
  };
  assert.deepEqual(conditionsOf(acceptNames(definition, [], NOW)), [
    'NamesAccepted True NoConflicts: no conflicts found',
    'KubernetesAPIApprovalPolicyConformant True ApprovedAnnotation: approved in https://example.com/1',
    'Established True InitialNamesAccepted: the initial names have been accepted',
  ]);
});
