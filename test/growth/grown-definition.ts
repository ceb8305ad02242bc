const text = (rules: object = {}): object => ({ type: 'string', ...rules });

/** A kind with everything that a schema can ask of a value, and that could take long. */
export const GROWN_DEFINITION = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'growths.growth.example.com' },
  spec: {
    group: 'growth.example.com',
    scope: 'Namespaced',
    names: { plural: 'growths', singular: 'growth', kind: 'Growth' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        subresources: { status: {} },
        additionalPrinterColumns: [{ name: 'Parts', type: 'string', jsonPath: '.spec.parts[?(@.name=="a")].value' }],
        schema: { openAPIV3Schema: { type: 'object', properties: { spec: specSchema() } } },
      },
    ],
  },
};

function specSchema(): object {
  const named = { type: 'object', required: ['name'], properties: { name: text(), value: text() } };
  return {
    type: 'object',
    properties: {
      exponential: text({ pattern: '^(a+)+$' }),
      polynomial: text({ pattern: '[a-z]+[a-z0-9]*\\d+!$' }),
      bounded: text({ pattern: '^[a-z]([-a-z0-9]{0,61}[a-z0-9])?$', maxLength: 63 }),
      ruled: text({
        'x-kubernetes-validations': [{ rule: "self.matches('^(a+)+$') || self.size() > 3" }],
        maxLength: 4_000_000,
      }),
      ...Object.fromEntries(
        [
          'date',
          'date-time',
          'duration',
          'ipv4',
          'ipv6',
          'uri',
          'email',
          'hostname',
          'cidr',
          'mac',
          'byte',
          'uuid',
        ].map((format) => [`format-${format}`, text({ format })]),
      ),
      any: { 'x-kubernetes-preserve-unknown-fields': true, type: 'object' },
      port: { 'x-kubernetes-int-or-string': true },
      embedded: {
        type: 'object',
        'x-kubernetes-embedded-resource': true,
        'x-kubernetes-preserve-unknown-fields': true,
      },
      set: { type: 'array', 'x-kubernetes-list-type': 'set', items: text() },
      numbers: { type: 'array', 'x-kubernetes-list-type': 'set', items: { type: 'integer' } },
      parts: { type: 'array', 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['name'], items: named },
      atoms: { type: 'array', items: named },
      lists: { type: 'array', items: { type: 'array', items: text() } },
      labels: { type: 'object', additionalProperties: text() },
      chosen: {
        type: 'object',
        properties: { a: text(), b: text() },
        oneOf: [{ required: ['a'] }, { required: ['b'] }],
      },
      amount: { type: 'integer', minimum: 1, maximum: 10 },
      mode: text({ enum: ['a', 'b'] }),
    },
  };
}
