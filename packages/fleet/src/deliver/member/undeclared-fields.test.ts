import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { undeclaredFields, withoutFields } from './undeclared-fields.ts';

describe('the fields that a server says it does not know', () => {
  const rows: [string, string, string[]][] = [
    [
      'of 1.20',
      'failed to create typed patch object: .spec.internalTrafficPolicy: field not declared in schema',
      ['.spec.internalTrafficPolicy'],
    ],
    [
      'of today, several',
      'failed to create typed patch object (demo/web; apps/v1, Kind=Deployment): errors:\n' +
        '  .spec.template.spec.containers[name="web: 1.2"].resizePolicy: field not declared in schema\n' +
        '  .spec.template.spec.hostUsers: field not declared in schema',
      ['.spec.template.spec.containers[name="web: 1.2"].resizePolicy', '.spec.template.spec.hostUsers'],
    ],
    [
      'none, where something else is wrong',
      'failed to create typed patch object: .spec.ports: element 0: associative list with keys has an element that omits key field "protocol"',
      [],
    ],
  ];
  for (const [name, message, expected] of rows) {
    test(name, () => assert.deepEqual(undeclaredFields(message), expected));
  }
});

describe('an object without fields', () => {
  const object = {
    apiVersion: 'v1',
    kind: 'Service',
    spec: {
      policy: 'Local',
      ports: [
        { port: 80, protocol: 'TCP', appProtocol: 'http' },
        { port: 80, protocol: 'UDP', appProtocol: 'dns' },
      ],
      names: ['a', 'b'],
    },
  };
  const rows: [string, string, object][] = [
    ['a member', '.spec.policy', { ports: object.spec.ports, names: object.spec.names }],
    [
      'a member of the item with these keys',
      '.spec.ports[port=80,protocol="UDP"].appProtocol',
      { ...object.spec, ports: [object.spec.ports[0], { port: 80, protocol: 'UDP' }] },
    ],
    [
      'a member of the item at a place',
      '.spec.ports[0].appProtocol',
      { ...object.spec, ports: [{ port: 80, protocol: 'TCP' }, object.spec.ports[1]] },
    ],
  ];
  for (const [name, path, spec] of rows) {
    test(name, () => assert.deepEqual(withoutFields(object, [path]), { ...object, spec }));
  }
  for (const path of [
    '.spec.other',
    '.spec.ports[port=81].appProtocol',
    '.spec.ports[0]',
    '.spec.names["a"]',
    '.spec[',
  ]) {
    test(`the same object, where it has no ${path}`, () => assert.equal(withoutFields(object, [path]), object));
  }
});
