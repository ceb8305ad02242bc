import type { DifferentialCase, DifferentialStep, RequestStep } from '../differential-case.ts';
import { type Fields, makeObject } from '../objects/generated-kind.ts';
import { generatedKind } from '../objects/generated-kinds.ts';
import { map, mapCase, NOBODY } from './map-case.ts';
import { requestsTo } from './requests.ts';

/** Creates and updates with all that they may carry. */
export function writeCases(seed: number): DifferentialCase[] {
  return [createCase(seed), updateCase(seed), dryRunCase(seed), bodyCase(seed), newerCase(seed)];
}

function createCase(seed: number): DifferentialCase {
  const { name, to } = mapCase('create', seed);
  const generated = map({ generateName: 'some-' });
  return {
    name,
    subject: 'verbs',
    combinations: [
      'generateName',
      'generateName cut',
      'exists',
      'with a uid',
      'with a version',
      'other namespace',
      'no namespace there',
      'other kind',
      'no kind',
      'with status of metadata',
      'field manager',
      'bad field manager',
      'by name',
      'bad namespace',
      'user agent',
    ].map((what) => `create ConfigMap: ${what}`),
    steps: [
      to.create(generated),
      to.create(map({ generateName: `${'long-'.repeat(14)}` })),
      to.create(map({ name: 'one' })),
      to.create(map({ name: 'one' })),
      to.create(map({ name: 'uid', uid: NOBODY })),
      to.create(map({ name: 'version', resourceVersion: '1' })),
      to.create(map({ name: 'other', namespace: 'default' })),
      { request: { method: 'POST', path: '/api/v1/namespaces/nowhere-at-all/configmaps', body: map({ name: 'one' }) } },
      { request: { method: 'POST', path: '/api/v1/namespaces/Bad_Name/configmaps', body: map({ name: 'one' }) } },
      to.create({ apiVersion: 'v1', kind: 'Secret', metadata: { name: 'two' } }),
      to.create({ metadata: { name: 'two' } }),
      to.create(
        map({
          name: 'three',
          creationTimestamp: '2001-01-01T00:00:00Z',
          generation: 7,
          selfLink: '/x',
          deletionGracePeriodSeconds: 4,
        }),
      ),
      to.create(map({ name: 'four' }, { data: { a: 'b' } }), { fieldManager: 'me' }),
      to.create(map({ name: 'five' }, { data: { a: 'b' } }), { fieldManager: 'x'.repeat(200) }),
      { request: { method: 'POST', path: `${to.path}/six`, body: map({ name: 'six' }) } },
      {
        request: {
          method: 'POST',
          path: to.path,
          headers: { 'User-Agent': 'kubectl/v1.20 (linux)' },
          body: map({ name: 'seven' }, { data: { a: 'b' } }),
        },
      },
    ],
  };
}

function updateCase(seed: number): DifferentialCase {
  const { name, to } = mapCase('update', seed);
  const one = map({ name: 'one' }, { data: { a: '1' } });
  const at = (resourceVersion: string, data: string): Fields =>
    map({ name: 'one', resourceVersion }, { data: { a: data } });
  return {
    name,
    subject: 'verbs',
    combinations: [
      'without version',
      'old version',
      'no change',
      'absent',
      'other name',
      'other uid',
      'other namespace',
      'own uid',
      'bad version',
      'no name',
      'finalizers',
      'managed fields reset',
    ].map((what) => `update ConfigMap: ${what}`),
    steps: [
      to.create(one),
      to.update(map({ name: 'one' }, { data: { a: '2' } })),
      to.update(at('{{steps.0.body.metadata.resourceVersion}}', '3')),
      to.update(at('{{steps.1.body.metadata.resourceVersion}}', '4')),
      to.replaceWith(3, ['data', { a: '4' }]),
      { request: { method: 'PUT', path: `${to.path}/absent`, body: map({ name: 'absent' }) } },
      to.update(map({ name: 'other' })),
      to.update(map({ name: 'one', uid: NOBODY })),
      to.update(map({ name: 'one', namespace: 'default' })),
      to.update(map({ name: 'one', uid: '{{steps.0.body.metadata.uid}}' })),
      to.update(at('abc', '5')),
      to.update(map({})),
      to.update(map({ name: 'one', finalizers: ['example.com/x'] }, { data: { b: '1' } })),
      to.update(map({ name: 'one', finalizers: ['bad finalizer'] })),
      to.update(map({ name: 'one', managedFields: [] }, { data: { c: '1' } })),
      to.get(),
    ],
  };
}

function dryRunCase(seed: number): DifferentialCase {
  const { name, choices, to } = mapCase('dry-run', seed);
  const steps: DifferentialStep[] = [];
  const kinds = ['ConfigMap', 'Deployment', 'Secret', 'Role', 'StorageClass'];
  for (const kind of kinds) {
    const of = generatedKind(kind);
    const its = requestsTo(of, name);
    const object = makeObject(of, choices, { name: its.name, labels: { a: 'b' } });
    const query = { dryRun: 'All' };
    steps.push(
      its.create(object, query),
      its.get(),
      its.create(object),
      its.patch('merge', { metadata: { labels: { a: 'c' } } }, { query }),
      its.delete(undefined, query),
      its.get(),
    );
  }
  steps.push(to.create(map({ name: 'bad' }), { dryRun: 'Some' }));
  return {
    name,
    subject: 'verbs',
    combinations: [
      ...kinds.flatMap((kind) => ['create', 'patch', 'delete'].map((what) => `dry run ${kind}: ${what}`)),
      'dry run ConfigMap: refused value',
    ],
    steps,
  };
}

function bodyCase(seed: number): DifferentialCase {
  const { name, to } = mapCase('bodies', seed);
  const post = (type: string | null, bodyText: string): RequestStep => ({
    request: { method: 'POST', path: to.path, headers: { 'Content-Type': type }, bodyText },
  });
  const json = '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x"}}';
  // The same ConfigMap `pb` with data {"a":"b"} as protobuf.
  const message = (bodyBase64: string): RequestStep => {
    const headers = { 'Content-Type': 'application/vnd.kubernetes.protobuf' };
    return { request: { method: 'POST', path: to.path, headers, bodyBase64 } };
  };
  const protobuf = 'azhzAAoPCgJ2MRIJQ29uZmlnTWFwEhwKEgoCcGISABoAIgAqADIAOABCABIGCgFhEgFiGgAiAA==';
  return {
    name,
    subject: 'verbs',
    combinations: [
      'yaml',
      'json as yaml',
      'empty',
      'not json',
      'a list',
      'strange type',
      'no type',
      'text',
      'two documents',
      'protobuf',
      'broken protobuf',
      'method',
    ].map((what) => `body ConfigMap: ${what}`),
    steps: [
      post('application/yaml', 'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: yaml\ndata:\n  a: "1"\n'),
      post('application/yaml', json),
      post('application/json', ''),
      post('application/json', '[]'),
      post('application/strange', json),
      post('application/json; charset=utf-8', json.replace('"x"', '"charset"')),
      post('text/plain', json),
      post(null, json.replace('"x"', '"untyped"')),
      post('application/json', json.slice(0, -1)),
      post('application/yaml', `${json.replace('"x"', '"first"')}\n---\n${json.replace('"x"', '"second"')}\n`),
      message(protobuf),
      message(protobuf.slice(0, -8)),
      { request: { method: 'PATCH', path: to.path, body: {} } },
      { request: { method: 'PUT', path: to.path, body: map({ name: 'x' }) } },
      { request: { method: 'POST', path: '/api/v1/configmaps', body: map({ name: 'x' }) } },
      { request: { method: 'DELETE', path: '/api/v1/configmaps' } },
      { request: { method: 'GET', path: '/api/v1/nothings' } },
      { request: { method: 'GET', path: `${to.path}/one/status` } },
      to.list(),
    ],
  };
}

/** What 1.20 has not: field validation. */
function newerCase(seed: number): DifferentialCase {
  const { name, to } = mapCase('newer', seed);
  const odd = map({ name: 'odd' }, { data: { a: '1' }, surprise: true });
  const because = 'fieldValidation is of 1.25';
  return {
    name,
    subject: 'verbs',
    combinations: ['strict', 'ignored', 'bad value', 'strict duplicate'].map(
      (what) => `field validation ConfigMap: ${what}`,
    ),
    steps: [
      {
        ...to.create(odd, { fieldValidation: 'Strict' }),
        since: {
          because,
          status: 400,
          body: {
            reason: 'BadRequest',
            message:
              'ConfigMap in version "v1" cannot be handled as a ConfigMap: strict decoding error: unknown field "surprise"',
          },
        },
      },
      to.create({ ...odd, metadata: { name: 'odder' } }, { fieldValidation: 'Ignore' }),
      { ...to.create(odd, { fieldValidation: 'Maybe' }), since: { because, status: 422, body: { reason: 'Invalid' } } },
      {
        request: {
          method: 'POST',
          path: to.path,
          query: { fieldValidation: 'Strict' },
          bodyText: '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"twice","name":"twice"}}',
        },
        since: {
          because,
          status: 400,
          body: {
            message:
              'ConfigMap in version "v1" cannot be handled as a ConfigMap: strict decoding error: duplicate field "metadata.name"',
          },
        },
      },
    ],
  };
}
