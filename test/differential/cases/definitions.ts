import type { RequestStep, UntilStep } from '../differential-case.ts';
import type { FieldChange, Fields, GeneratedKind } from '../objects/generated-kind.ts';

const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

/** A schema of `spec`: an integer, a text with a default, and a text for the selector of a scale. */
export const SIZED: Fields = {
  type: 'object',
  properties: { size: { type: 'integer' }, note: { type: 'string', default: 'none' }, selector: { type: 'string' } },
};

export interface Definition {
  /** The whole CustomResourceDefinition: `things` of a group of its own, one version `v1`. */
  object: Fields;
  /** As other kinds, for requests to its objects. */
  kind: GeneratedKind;
  create: RequestStep;
  get: RequestStep;
  /** Until its objects are served. */
  served: UntilStep;
  /** Until it says that it is established. */
  established: UntilStep;
  path: string;
}

/** A definition of Things in the group of the case; `changes` to it as a whole, as `['spec.scope', 'Cluster']`. */
export function define(name: string, spec: Fields, version: Fields = {}): Definition {
  const group = `${name}.example.com`;
  const names = { plural: 'things', singular: 'thing', kind: 'Thing', listKind: 'ThingList' };
  const schema = {
    openAPIV3Schema: {
      type: 'object',
      properties: { spec, status: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
    },
  };
  const object = {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `things.${group}` },
    spec: {
      group,
      scope: 'Namespaced',
      names,
      versions: [{ name: 'v1', served: true, storage: true, schema, ...version }],
    },
  };
  return around(object, group);
}

function around(object: Fields, group: string): Definition {
  const kind: GeneratedKind = {
    kind: 'Thing',
    apiVersion: `${group}/v1`,
    resource: 'things',
    namespaced: true,
    make: () => ({}),
    changes: [] as FieldChange[],
    invalid: {},
  };
  const path = `${DEFINITIONS}/things.${group}`;
  return {
    object,
    kind,
    path,
    create: { request: { method: 'POST', path: DEFINITIONS, body: object } },
    get: { request: { method: 'GET', path } },
    established: { until: { request: { method: 'GET', path }, status: 200, body: ESTABLISHED } },
    served: { until: { request: { method: 'GET', path: `/apis/${group}/v1/things` }, status: 200 } },
  };
}

const ESTABLISHED = { status: { conditions: [{ type: 'NamesAccepted' }, { type: 'Established', status: 'True' }] } };

/** A Thing with that content. */
export function thing({ kind }: Definition, content: Fields, name = 'one'): Fields {
  return { apiVersion: kind.apiVersion, kind: 'Thing', metadata: { name }, ...content };
}
