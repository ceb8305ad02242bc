import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { AuthorizationAttributes } from '@asterism/apiserver';
import { StatusError } from '@asterism/machinery';
import { authorizeSearch, type SearchScope } from './authorize-search.ts';

/** `verb resource[/name] [namespace]`: what somebody may; a resource without a name is any of them. */
type Grant = `${string} ${string}`;

function allows(grants: readonly Grant[]) {
  return ({ verb, resource = '', namespace = '', name = '' }: Omit<AuthorizationAttributes, 'user'>) => {
    const allowed = grants.some((grant) => {
      const [granted, what = '', where = ''] = grant.split(' ');
      const [type, named = ''] = what.split('/');
      if (granted !== verb || type !== resource) return false;
      return (named === '' || named === name) && (where === '' || where === namespace);
    });
    return Promise.resolve({ allowed, reason: '' });
  };
}

interface Row {
  name: string;
  grants: Grant[];
  asks?: Partial<SearchScope>;
  /** The clusters that may be searched, how many were left out, or the refusal. */
  gets: { clusters?: string[]; leftOut: number } | RegExp;
}

const TABLE: Row[] = [
  {
    name: 'nothing granted',
    grants: [],
    gets: /^pods is forbidden: User "jo" cannot list resource "pods" .* at the cluster scope/,
  },
  {
    name: 'rights in the hub alone open no cluster',
    grants: ['list pods'],
    gets: /^clusters\.asterism\.dev is forbidden: User "jo" cannot search resource "clusters"/,
  },
  { name: 'a cluster alone opens no kind', grants: ['search clusters'], gets: /cannot list resource "pods"/ },
  { name: 'the kind and all clusters', grants: ['list pods', 'search clusters'], gets: { leftOut: 0 } },
  {
    name: 'the kind and some clusters: the others are left out, and counted',
    grants: ['list pods', 'search clusters/a', 'search clusters/c'],
    gets: { clusters: ['a', 'c'], leftOut: 1 },
  },
  {
    name: 'a cluster asked for by name that may not be searched',
    grants: ['list pods', 'search clusters/a'],
    asks: { clusters: ['a', 'b'] },
    gets: /^clusters\.asterism\.dev "b" is forbidden/,
  },
  {
    name: 'one asked for by name that may',
    grants: ['list pods', 'search clusters/a'],
    asks: { clusters: ['a'] },
    gets: { clusters: ['a'], leftOut: 0 },
  },
  {
    name: 'a namespace of some clusters alone',
    grants: ['list pods demo', 'search clusters/b demo'],
    asks: { namespaces: ['demo'] },
    gets: { clusters: ['b'], leftOut: 2 },
  },
  {
    name: 'one namespace does not open all of them',
    grants: ['list pods demo', 'search clusters demo'],
    gets: /cannot list resource "pods" .* at the cluster scope/,
  },
  {
    name: 'one namespace does not open another beside it',
    grants: ['list pods demo', 'search clusters'],
    asks: { namespaces: ['demo', 'other'] },
    gets: /cannot list resource "pods" .* in the namespace "other"/,
  },
  {
    name: 'a cluster that is open in one of two namespaces',
    grants: ['list pods', 'search clusters/a demo'],
    asks: { namespaces: ['demo', 'other'] },
    gets: /^clusters\.asterism\.dev is forbidden/,
  },
  {
    name: 'an object is for who may get it, by name too',
    grants: ['get pods/web', 'search clusters'],
    asks: { clusters: ['a'], name: 'web' },
    gets: { clusters: ['a'], leftOut: 0 },
  },
  {
    name: 'a list is not for who may only get',
    grants: ['get pods', 'search clusters'],
    gets: /cannot list resource "pods"/,
  },
  {
    name: 'Secrets: to list them is not enough',
    grants: ['list secrets', 'search clusters'],
    asks: { resource: 'secrets' },
    gets: /^secrets is forbidden: User "jo" cannot search resource "secrets"/,
  },
  {
    name: 'Secrets: with a rule that says so',
    grants: ['list secrets', 'search secrets', 'search clusters'],
    asks: { resource: 'secrets' },
    gets: { leftOut: 0 },
  },
];

describe('who may search what', () => {
  for (const { name, grants, asks, gets } of TABLE) {
    test(name, async () => {
      const context = { user: { username: 'jo', groups: [] }, authorize: allows(grants) };
      const scope = { group: '', version: 'v1', resource: 'pods', ...asks };
      const outcome = authorizeSearch(context, scope, () => ['a', 'b', 'c']);
      if (!(gets instanceof RegExp)) assert.deepEqual(await outcome, gets);
      else await assert.rejects(outcome, (e) => e instanceof StatusError && e.code === 403 && gets.test(e.message));
    });
  }
});
