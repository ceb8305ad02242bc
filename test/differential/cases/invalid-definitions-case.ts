import type { DifferentialCase } from '../differential-case.ts';
import { changed, type FieldChange } from '../objects/generated-kind.ts';
import { define, SIZED } from './definitions.ts';
import { caseName } from './requests.ts';

/** By what is wrong. */
const WRONG: Readonly<Record<string, FieldChange>> = {
  name: ['metadata.name', 'wrong.example.com'],
  'no scope': ['spec.scope', undefined],
  scope: ['spec.scope', 'World'],
  'no versions': ['spec.versions', []],
  'no schema': ['spec.versions.0.schema', undefined],
  'not stored': ['spec.versions.0.storage', false],
  'capital plural': ['spec.names.plural', 'Things'],
  'no kind': ['spec.names.kind', undefined],
  'capital short name': ['spec.names.shortNames', ['TH']],
  'type missing': ['spec.versions.0.schema.openAPIV3Schema.properties.spec', { properties: { a: { type: 'string' } } }],
  'unknown type': ['spec.versions.0.schema.openAPIV3Schema.properties.spec', { type: 'thing' }],
  'items missing': ['spec.versions.0.schema.openAPIV3Schema.properties.spec', { type: 'array' }],
  'bad pattern': ['spec.versions.0.schema.openAPIV3Schema.properties.spec.properties.note.pattern', '('],
  'bad default': ['spec.versions.0.schema.openAPIV3Schema.properties.spec.properties.size.default', 'x'],
  'both kinds of properties': [
    'spec.versions.0.schema.openAPIV3Schema.properties.spec.additionalProperties',
    { type: 'string' },
  ],
  'keys without map': [
    'spec.versions.0.schema.openAPIV3Schema.properties.spec',
    { type: 'array', items: { type: 'object' }, 'x-kubernetes-list-type': 'map' },
  ],
  'set of objects': [
    'spec.versions.0.schema.openAPIV3Schema.properties.spec',
    { type: 'array', items: { type: 'object' }, 'x-kubernetes-list-type': 'set' },
  ],
  'scale path': [
    'spec.versions.0.subresources',
    { scale: { specReplicasPath: 'spec.size', statusReplicasPath: '.status.size' } },
  ],
  'column type': ['spec.versions.0.additionalPrinterColumns', [{ name: 'A', type: 'colour', jsonPath: '.spec.a' }]],
  'column path': ['spec.versions.0.additionalPrinterColumns', [{ name: 'A', type: 'string', jsonPath: '' }]],
  conversion: ['spec.conversion', { strategy: 'Magic' }],
  'top type': ['spec.versions.0.schema.openAPIV3Schema.type', 'string'],
};

/** Definitions that are refused, each for one fault. */
export function invalidDefinitionsCase(seed: number): DifferentialCase {
  const name = caseName('crd-invalid', seed);
  const { object, create } = define(name, SIZED);
  return {
    name,
    subject: 'custom resources',
    combinations: Object.keys(WRONG).map((what) => `CustomResourceDefinition: refuse ${what}`),
    steps: Object.values(WRONG).map((change) => ({ request: { ...create.request, body: changed(object, change) } })),
  };
}
