import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { FieldError } from '@asterism/machinery';
import type { CustomResourceDefinition, DefinitionVersion } from './custom-resource-definition.ts';
import { validateDefinition, validateDefinitionUpdate } from './validate-definition.ts';

type Spec = NonNullable<CustomResourceDefinition['spec']>;

const SCHEMA: DefinitionVersion['schema'] = {
  openAPIV3Schema: {
    type: 'object',
    properties: { spec: { type: 'object', properties: { a: { type: 'string' } } } },
  },
};
const OTHER: DefinitionVersion['schema'] = { openAPIV3Schema: { type: 'object' } };
const V1: DefinitionVersion = { name: 'v1', served: true, storage: true, schema: SCHEMA };
const V2: DefinitionVersion = { name: 'v2', served: true, storage: false, schema: SCHEMA };
const LABEL =
  "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')";

const SHOWN =
  '{"Name":"v1","Served":true,"Storage":true,"Deprecated":false,"DeprecationWarning":null,"Schema":null,"Subresources":null,"AdditionalPrinterColumns":null,"SelectableFields":null}';

function definition(spec: Spec, more: Omit<CustomResourceDefinition, 'spec'> = {}): CustomResourceDefinition {
  const names = { plural: 'widgets', singular: 'widget', kind: 'Widget', listKind: 'WidgetList' };
  const [{ name = '' } = {}] = spec.versions ?? [V1];
  return {
    status: { storedVersions: [name] },
    ...more,
    spec: {
      group: 'example.com',
      scope: 'Namespaced',
      names,
      versions: [V1],
      conversion: { strategy: 'None' },
      ...spec,
    },
  };
}

function texts(errors: readonly FieldError[]): string[] {
  return errors.map(({ field, message }) => `${field}: ${message}`);
}

describe('a definition is refused', () => {
  const column = { name: 'A', type: 'string', jsonPath: '.spec.a' };
  const rows: [name: string, spec: Spec, faults: string[]][] = [
    ['for nothing', {}, []],
    ['without a group', { group: '' }, ['spec.group: Required value']],
    [
      'for a group of one word',
      { group: 'example' },
      ['spec.group: Invalid value: "example": should be a domain with at least one dot'],
    ],
    [
      'for a scope that there is not',
      { scope: 'Global' },
      ['spec.scope: Unsupported value: "Global": supported values: "Cluster", "Namespaced"'],
    ],
    [
      'for the name of a version, which is told twice',
      { versions: [{ ...V1, name: '1' }] },
      [`spec.versions[0].name: Invalid value: "1": ${LABEL}`, `spec.version: Invalid value: "1": ${LABEL}`],
    ],
    [
      'for a fault that all versions have, which stands beside them',
      { versions: [V1, V2].map((version) => ({ ...version, additionalPrinterColumns: [{ ...column, type: 'x' }] })) },
      ['spec.additionalPrinterColumns[0].type: Invalid value: "x": must be one of boolean,date,integer,number,string'],
    ],
    [
      'for a fault that one version has, which stands there',
      { versions: [V1, { ...V2, additionalPrinterColumns: [{ ...column, jsonPath: 'spec.a' }] }] },
      [
        'spec.versions[1].additionalPrinterColumns[0].JSONPath: Invalid value: "spec.a": must be a simple json path starting with .',
      ],
    ],
    [
      'for a schema that not all versions have',
      { versions: [V1, { ...V2, schema: { openAPIV3Schema: { type: 'object', properties: { a: {} } } } }] },
      [
        'spec.versions[1].schema.openAPIV3Schema.properties[a].type: Required value: must not be empty for specified object fields',
      ],
    ],
    [
      'without a storage version',
      {
        versions: [
          { ...V1, storage: false, subresources: { status: {} } },
          { ...V2, deprecated: true },
        ],
      },
      [
        'spec.versions: Invalid value: [{"Name":"v1","Served":true,"Storage":false,"Deprecated":false,"DeprecationWarning":null,"Schema":null,"Subresources":{"Status":{},"Scale":null},"AdditionalPrinterColumns":null,"SelectableFields":null},{"Name":"v2","Served":true,"Storage":false,"Deprecated":true,"DeprecationWarning":null,"Schema":null,"Subresources":null,"AdditionalPrinterColumns":null,"SelectableFields":null}]: must have exactly one version marked as storage version',
      ],
    ],
    [
      'for a warning of a version that is not deprecated',
      { versions: [{ ...V1, deprecationWarning: 'x' }] },
      ['spec.versions[0].deprecationWarning: Invalid value: "x": can only be set for deprecated versions'],
    ],
    [
      'for a warning of two lines',
      { versions: [{ ...V1, deprecated: true, deprecationWarning: 'ä\n' }] },
      [
        'spec.versions[0].deprecationWarning: Invalid value: "ä\\n": must only contain printable UTF-8 characters; non-printable character found at index 2',
      ],
    ],
    [
      'for selectable fields that are none',
      {
        versions: [
          {
            ...V1,
            selectableFields: [
              { jsonPath: '.spec' },
              { jsonPath: '.spec.a' },
              { jsonPath: '.spec.a' },
              { jsonPath: '' },
            ],
          },
        ],
      },
      [
        'spec.selectableFields[0].jsonPath: Invalid value: ".spec": must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed.',
        'spec.selectableFields[2].jsonPath: Duplicate value: ".spec.a"',
        'spec.selectableFields[3].jsonPath: Required value',
      ],
    ],
    ['for a conversion without a strategy', { conversion: {} }, ['spec.conversion.strategy: Required value']],
    [
      'for a webhook without a client',
      { conversion: { strategy: 'Webhook' } },
      [
        'spec.conversion.webhookClientConfig: Required value: required when strategy is set to Webhook',
        'spec.conversion.conversionReviewVersions: Required value',
      ],
    ],
    [
      'for two storage versions of one name, the second of which upstream no longer finds',
      { versions: [V1, V1] },
      [
        `spec.versions: Invalid value: [${SHOWN},${SHOWN}]: must contain unique version names`,
        `spec.versions: Invalid value: [${SHOWN},${SHOWN}]: must have exactly one version marked as storage version`,
        'status.storedVersions: Invalid value: ["v1"]: must have the storage version v1',
      ],
    ],
    [
      'for a webhook elsewhere than on HTTPS',
      {
        conversion: {
          strategy: 'Webhook',
          webhook: { clientConfig: { url: 'http://a?b' }, conversionReviewVersions: ['v9'] },
        },
      },
      [
        'spec.conversion.webhookClientConfig.url: Invalid value: "http": \'https\' is the only allowed URL scheme; desired format: https://host[/path]',
        'spec.conversion.webhookClientConfig.url: Invalid value: "b": query parameters are not permitted in the URL',
        'spec.conversion.conversionReviewVersions: Invalid value: ["v9"]: must include at least one of v1, v1beta1',
      ],
    ],
  ];
  for (const [name, spec, faults] of rows) {
    test(name, () => assert.deepEqual(texts(validateDefinition(definition(spec))), faults));
  }

  test('for preserving unknown fields as in v1beta1', () => {
    const faults = texts(validateDefinition(definition({ preserveUnknownFields: true })));
    assert.deepEqual(faults, [
      'spec.preserveUnknownFields: Invalid value: true: cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead',
    ]);
  });

  test('for a group of Kubernetes itself without an approval', () => {
    const approved = (text?: string) =>
      definition(
        { group: 'x.k8s.io' },
        { metadata: text === undefined ? {} : { annotations: { 'api-approved.kubernetes.io': text } } },
      );
    assert.match(
      texts(validateDefinition(approved()))[0] ?? '',
      /^metadata.annotations\[.*\]: Required value: protected/,
    );
    assert.match(
      texts(validateDefinition(approved('maybe')))[0] ?? '',
      /Invalid value: "maybe": protected groups must/,
    );
    assert.deepEqual(validateDefinition(approved('unapproved, experimental')), []);
    assert.deepEqual(validateDefinition(approved('https://example.com/1')), []);
    // What was so before may stay.
    assert.deepEqual(validateDefinitionUpdate(approved(), approved()), []);
  });
});

describe('a change of a definition is refused', () => {
  const established = {
    status: {
      storedVersions: ['v1'],
      conditions: [{ type: 'Established', status: 'True' as const, reason: 'x', message: '' }],
    },
  };
  const names = { plural: 'widgets', singular: 'widget', kind: 'Gadget', listKind: 'WidgetList' };
  const rows: [name: string, spec: Spec, old: CustomResourceDefinition, faults: string[]][] = [
    [
      'of kind and scope, once it is established',
      { scope: 'Cluster', names },
      definition({}, established),
      [
        'spec.scope: Invalid value: "Cluster": field is immutable',
        'spec.names.kind: Invalid value: "Gadget": field is immutable',
      ],
    ],
    ['of neither before', { scope: 'Cluster', names }, definition({}), []],
    [
      'of its group, always',
      { group: 'b.example.com' },
      definition({}),
      ['spec.group: Invalid value: "b.example.com": field is immutable'],
    ],
    [
      'that takes away a version in which objects may be stored',
      { versions: [{ ...V2, storage: true, schema: OTHER }] },
      definition({}),
      [
        'status.storedVersions: Invalid value: ["v1"]: must have the storage version v2',
        'status.storedVersions[0]: Invalid value: "v1": missing from spec.versions; v1 was previously a storage version, and must remain in spec.versions until a storage migration ensures no data remains persisted in v1 and removes v1 from status.storedVersions',
      ],
    ],
  ];
  for (const [name, spec, old, faults] of rows) {
    test(name, () => {
      const changed = definition(spec);
      assert.deepEqual(texts(validateDefinitionUpdate({ ...changed, status: old.status ?? {} }, old)), faults);
    });
  }
});
