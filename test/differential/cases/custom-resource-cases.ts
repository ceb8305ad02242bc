import { Choices } from '../choices.ts';
import type { DifferentialCase, DifferentialStep } from '../differential-case.ts';
import { changed, type Fields } from '../objects/generated-kind.ts';
import { define, SIZED, thing } from './definitions.ts';
import { invalidDefinitionsCase } from './invalid-definitions-case.ts';
import { caseName, requestsTo } from './requests.ts';
import { SCHEMA_FEATURES, type SchemaFeature } from './schema-features.ts';

const FEATURES_AT_ONCE = 6;

/** Schemas put together of random features with objects that they take, prune, default and refuse; and what else a definition says. */
export function customResourceCases(seed: number): DifferentialCase[] {
  const features = new Choices(seed, 'schema features').shuffled(SCHEMA_FEATURES);
  const groups = Array.from({ length: Math.ceil(features.length / FEATURES_AT_ONCE) }, (_, index) =>
    features.slice(index * FEATURES_AT_ONCE, (index + 1) * FEATURES_AT_ONCE),
  );
  return [
    ...groups.map((group, index) => schemaCase(group, index, seed)),
    lifeCase(seed),
    subresourcesCase(seed),
    columnsCase(seed),
    versionsCase(seed),
    namesCase(seed),
    deletionCase(seed),
    applyCase(seed),
    publishedCase(seed),
    invalidDefinitionsCase(seed),
  ];
}

function schemaCase(features: readonly SchemaFeature[], index: number, seed: number): DifferentialCase {
  const name = caseName('crd-schema', index, seed);
  const choices = new Choices(seed, name);
  const properties = Object.fromEntries(features.map(({ schema }, nth) => [`f${nth}`, schema]));
  const definition = define(name, { type: 'object', properties });
  const to = requestsTo(definition.kind, name);
  const steps: DifferentialStep[] = [definition.create, definition.served];
  let count = 0;
  const create = (spec: Fields): void => {
    steps.push(to.create(thing(definition, { spec, unknown: { a: 1 } }, `o${count}`)));
    count += 1;
  };
  for (const [nth, { valid, invalid }] of features.entries()) {
    for (const value of valid) create({ [`f${nth}`]: value, unknown: choices.int(0, 9) });
    for (const value of invalid) create({ [`f${nth}`]: value });
  }
  create(Object.fromEntries(features.map(({ valid }, nth) => [`f${nth}`, choices.pick(valid)])));
  steps.push(to.list());
  const combinations = features.flatMap((feature) => [
    `Thing: take ${feature.name}`,
    ...(feature.invalid.length > 0 ? [`Thing: refuse ${feature.name}`] : []),
  ]);
  return { name, subject: 'custom resources', combinations, steps };
}

function lifeCase(seed: number): DifferentialCase {
  const name = caseName('crd-life', seed);
  const definition = define(name, SIZED);
  const to = requestsTo(definition.kind, name);
  const choices = new Choices(seed, name);
  return {
    name,
    subject: 'custom resources',
    combinations: [
      'create',
      'get',
      'list',
      'update',
      'conflict',
      'merge patch',
      'json patch',
      'refuse strategic patch',
      'delete',
      'delete collection',
      'field and label selectors',
      'generation',
    ].map((what) => `Thing: ${what}`),
    steps: [
      definition.create,
      definition.served,
      definition.established,
      definition.get,
      to.create(
        thing(definition, { metadata: { name: 'one', labels: { a: 'b' } }, spec: { size: choices.int(1, 9) } }),
      ),
      to.get(),
      to.replaceWith(4, ['spec.size', 99]),
      to.replaceWith(4, ['spec.size', 100]),
      to.patch('merge', { metadata: { annotations: { a: 'b' } } }),
      to.patch('merge', { spec: { note: null, unknown: 1 } }),
      to.patch('json', [
        { op: 'replace', path: '/spec/size', value: 7 },
        { op: 'add', path: '/spec/odd', value: 1 },
      ]),
      to.patch('json', [{ op: 'replace', path: '/spec/size', value: 'seven' }]),
      to.patch('strategic', { spec: { size: 8 } }),
      to.create(thing(definition, { spec: {} }, 'two')),
      to.list({ labelSelector: 'a=b' }),
      to.list({ fieldSelector: 'metadata.name=two' }),
      to.list({ fieldSelector: 'spec.size=7' }),
      to.list({ limit: '1' }),
      to.delete(),
      to.get(),
      { request: { method: 'DELETE', path: to.path } },
      to.list(),
    ],
  };
}

function subresourcesCase(seed: number): DifferentialCase {
  const name = caseName('crd-subresources', seed);
  const scale = {
    specReplicasPath: '.spec.size',
    statusReplicasPath: '.status.size',
    labelSelectorPath: '.status.selector',
  };
  const definition = define(name, SIZED, { subresources: { status: {}, scale } });
  const to = requestsTo(definition.kind, name);
  const scalePatch = (replicas: unknown): Fields => ({ spec: { replicas } });
  return {
    name,
    subject: 'custom resources',
    combinations: [
      'status apart',
      'status not by the main resource',
      'get scale',
      'update scale',
      'refuse scale',
      'generation with status',
    ].map((what) => `Thing: ${what}`),
    steps: [
      definition.create,
      definition.served,
      to.create(thing(definition, { spec: { size: 3 }, status: { size: 1 } })),
      to.patch('merge', { status: { size: 2, selector: 'a=b' }, spec: { size: 50 } }, { subresource: 'status' }),
      to.patch('merge', { status: { size: 9 }, spec: { note: 'x' } }),
      to.get('scale'),
      to.patch('merge', scalePatch(6), { subresource: 'scale' }),
      to.patch('merge', scalePatch(-1), { subresource: 'scale' }),
      to.get('status'),
      to.get(),
    ],
  };
}

function columnsCase(seed: number): DifferentialCase {
  const name = caseName('crd-columns', seed);
  const additionalPrinterColumns = [
    { name: 'Size', type: 'integer', jsonPath: '.spec.size', description: 'how big' },
    { name: 'Note', type: 'string', jsonPath: '.spec.note', priority: 1 },
    { name: 'Missing', type: 'boolean', jsonPath: '.spec.missing' },
    { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
  ];
  const definition = define(name, SIZED, { additionalPrinterColumns });
  const plain = define(`${name}-plain`, SIZED);
  const headers = { Accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' };
  const list = (path: string): DifferentialStep => ({ request: { method: 'GET', path, headers } });
  const [to, toPlain] = [requestsTo(definition.kind, name), requestsTo(plain.kind, name)];
  return {
    name,
    subject: 'custom resources',
    combinations: ['columns of its own', 'columns by default', 'empty table'].map((what) => `Thing: ${what}`),
    steps: [
      definition.create,
      plain.create,
      definition.served,
      plain.served,
      list(to.path),
      to.create(thing(definition, { spec: { size: 4 } })),
      toPlain.create(thing(plain, { spec: { size: 4 } })),
      list(to.path),
      list(`${to.path}/one`),
      list(toPlain.path),
    ],
  };
}

function versionsCase(seed: number): DifferentialCase {
  const name = caseName('crd-versions', seed);
  const definition = define(name, SIZED);
  const [first] = (definition.object['spec'] as { versions: Fields[] }).versions;
  const second = changed({ ...first, name: 'v2', storage: false }, [
    'schema.openAPIV3Schema.properties.spec.properties.colour',
    { type: 'string', default: 'red' },
  ]);
  const old = { ...first, name: 'v1alpha1', storage: false, served: false };
  const object = changed(definition.object, ['spec.versions', [first, second, old]]);
  const to = requestsTo(definition.kind, name);
  const other = (version: string): string => to.path.replace('/v1/', `/${version}/`);
  return {
    name,
    subject: 'custom resources',
    combinations: [
      'read in another version',
      'write in another version',
      'pruned by the version of the request',
      'version not served',
      'stored versions',
    ].map((what) => `Thing: ${what}`),
    steps: [
      { request: { ...definition.create.request, body: object } },
      definition.served,
      { until: { request: { method: 'GET', path: other('v2') }, status: 200 } },
      to.create(thing(definition, { spec: { size: 1, colour: 'blue' } })),
      { request: { method: 'GET', path: `${other('v2')}/one` } },
      {
        request: {
          method: 'POST',
          path: other('v2'),
          body: { ...thing(definition, { spec: { colour: 'blue' } }, 'two'), apiVersion: `${name}.example.com/v2` },
        },
      },
      { request: { method: 'GET', path: `${to.path}/two` } },
      { request: { method: 'POST', path: other('v2'), body: thing(definition, { spec: {} }, 'three') } },
      { request: { method: 'GET', path: other('v1alpha1') } },
      { until: { request: { method: 'GET', path: `/apis/${name}.example.com` }, status: 200 } },
      { request: { method: 'GET', path: `/apis/${name}.example.com` } },
      { until: { ...definition.established.until, body: { status: { storedVersions: ['v1'] } } } },
    ],
  };
}

function namesCase(seed: number): DifferentialCase {
  const name = caseName('crd-names', seed);
  const definition = define(name, SIZED);
  const object = changed(
    definition.object,
    ['spec.names.shortNames', ['th']],
    ['spec.names.categories', ['all', 'every']],
  );
  const rival = changed(
    object,
    ['metadata.name', `others.${name}.example.com`],
    ['spec.names', { plural: 'others', singular: 'thing', kind: 'Thing', listKind: 'OtherList' }],
  );
  const rivalPath = definition.path.replace('/things.', '/others.');
  const refused = { status: { conditions: [{ type: 'NamesAccepted', status: 'False' }] } };
  return {
    name,
    subject: 'custom resources',
    combinations: ['short names and categories', 'names of another', 'established'].map(
      (what) => `CustomResourceDefinition: ${what}`,
    ),
    steps: [
      { request: { ...definition.create.request, body: object } },
      definition.served,
      {
        until: { request: definition.get.request, status: 200, body: { status: { acceptedNames: { kind: 'Thing' } } } },
      },
      { until: { request: { method: 'GET', path: `/apis/${name}.example.com/v1` }, status: 200 } },
      { request: { method: 'GET', path: `/apis/${name}.example.com/v1` } },
      { request: { ...definition.create.request, body: rival } },
      { until: { request: { method: 'GET', path: rivalPath }, status: 200, body: refused } },
      { request: { method: 'GET', path: rivalPath } },
    ],
  };
}

function deletionCase(seed: number): DifferentialCase {
  const name = caseName('crd-deletion', seed);
  const definition = define(name, SIZED);
  const to = requestsTo(definition.kind, name);
  const again = changed(definition.object, [
    'spec.versions.0.schema.openAPIV3Schema.properties.spec.properties.more',
    { type: 'string' },
  ]);
  return {
    name,
    subject: 'custom resources',
    combinations: ['deletion with instances', 'made again', 'not served any more'].map(
      (what) => `CustomResourceDefinition: ${what}`,
    ),
    steps: [
      definition.create,
      definition.served,
      definition.established,
      to.create(thing(definition, { spec: { size: 1 } })),
      { request: { method: 'DELETE', path: definition.path } },
      { until: { request: { method: 'GET', path: definition.path }, status: 404 } },
      { until: { request: to.list().request, status: 404 } },
      to.list(),
      { request: { ...definition.create.request, body: again } },
      definition.served,
      to.create(thing(definition, { spec: { size: 2, more: 'x' } }, 'two')),
    ],
  };
}

function applyCase(seed: number): DifferentialCase {
  const name = caseName('crd-apply', seed);
  const items = {
    type: 'object',
    properties: { name: { type: 'string' }, value: { type: 'integer' }, note: { type: 'string' } },
    required: ['name'],
  };
  const definition = define(name, {
    type: 'object',
    properties: {
      size: { type: 'integer' },
      entries: { type: 'array', items, 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['name'] },
      tags: { type: 'array', items: { type: 'string' }, 'x-kubernetes-list-type': 'set' },
      order: { type: 'array', items: { type: 'string' }, 'x-kubernetes-list-type': 'atomic' },
      whole: {
        type: 'object',
        properties: { a: { type: 'string' }, b: { type: 'string' } },
        'x-kubernetes-map-type': 'atomic',
      },
    },
  });
  const to = requestsTo(definition.kind, name);
  const choices = new Choices(seed, name);
  const some = (from: readonly string[]): string[] =>
    choices.shuffled(from).slice(0, choices.int(1, from.length)).sort();
  const applies = Array.from({ length: 10 }, () => {
    // The lists are always there: 1.20 leaves null of a list that nobody wants any more, and refuses that.
    const spec = {
      ...choices.maybe(() => ({ size: choices.int(1, 3) })),
      entries: some(['a', 'b', 'c']).map((key) => ({
        name: key,
        ...choices.maybe(() => ({ value: choices.int(1, 2) })),
      })),
      tags: some(['x', 'y', 'z']),
      ...choices.maybe(() => ({ order: some(['1', '2']) }), 0.7),
      ...choices.maybe(() => ({ whole: { a: choices.pick(['p', 'q']), ...choices.maybe(() => ({ b: 'r' })) } })),
    };
    const query = {
      fieldManager: choices.pick(['one', 'two', 'three']),
      ...choices.maybe(() => ({ force: 'true' }), 0.3),
    };
    return to.patch('apply', thing(definition, { spec }), { query });
  });
  return {
    name,
    subject: 'custom resources',
    combinations: [
      'apply list map',
      'apply set',
      'apply atomic list',
      'apply atomic map',
      'apply conflict',
      'apply force',
    ].map((what) => `Thing: ${what}`),
    steps: [definition.create, definition.served, ...applies],
  };
}

function publishedCase(seed: number): DifferentialCase {
  const name = caseName('crd-published', seed);
  const definition = define(name, SIZED);
  return {
    name,
    subject: 'custom resources',
    combinations: ['group published', 'version published', 'group gone'].map(
      (what) => `CustomResourceDefinition: ${what}`,
    ),
    steps: [
      { request: { method: 'GET', path: `/apis/${name}.example.com` } },
      definition.create,
      definition.served,
      { until: { request: { method: 'GET', path: `/apis/${name}.example.com` }, status: 200 } },
      { request: { method: 'GET', path: `/apis/${name}.example.com` } },
      { until: { request: { method: 'GET', path: `/apis/${name}.example.com/v1` }, status: 200 } },
      { request: { method: 'GET', path: `/apis/${name}.example.com/v1` } },
      { request: { method: 'DELETE', path: definition.path } },
      { until: { request: { method: 'GET', path: `/apis/${name}.example.com` }, status: 404 } },
      { request: { method: 'GET', path: `/apis/${name}.example.com/v1` } },
    ],
  };
}
