import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { StatusError } from '@asterism/machinery';
import { parseFieldSelector } from './parse-field-selector.ts';
import { type ObjectsPath, parseSearchPath } from './parse-search-path.ts';
import { parseSearchQuery } from './parse-search-query.ts';

/** `404 …` or `400 …`: what was thrown. */
function refusalOf(action: () => unknown): string {
  try {
    action();
  } catch (error) {
    if (error instanceof StatusError) return `${error.code} ${error.message}`;
    throw error;
  }
  return assert.fail('nothing was refused');
}

describe('paths', () => {
  const pods = { about: 'objects', group: '', version: 'v1', resource: 'pods' };
  const table: [path: string, parsed: object][] = [
    ['/api', { about: 'discovery', root: 'api' }],
    ['/apis/', { about: 'discovery', root: 'apis' }],
    ['/api/v1', { about: 'discovery', root: 'api', group: '', version: 'v1' }],
    ['/apis/apps', { about: 'discovery', root: 'apis', group: 'apps' }],
    ['/apis/apps/v1', { about: 'discovery', root: 'apis', group: 'apps', version: 'v1' }],
    ['/clusters/a/api', { about: 'discovery', root: 'api' }],
    ['/api/v1/pods', pods],
    ['/api/v1/namespaces/demo/pods', { ...pods, namespace: 'demo' }],
    ['/api/v1/namespaces/demo/pods/web%2F1', { ...pods, namespace: 'demo', name: 'web/1' }],
    ['/clusters/a/api/v1/namespaces/demo/pods/web', { ...pods, cluster: 'a', namespace: 'demo', name: 'web' }],
    ['/apis/apps/v1/deployments', { about: 'objects', group: 'apps', version: 'v1', resource: 'deployments' }],
    ['/api/v1/namespaces', { ...pods, resource: 'namespaces' }],
    ['/clusters/a/api/v1/namespaces/demo', { ...pods, cluster: 'a', resource: 'namespaces', name: 'demo' }],
  ];
  for (const [path, parsed] of table) test(path, () => assert.deepEqual(parseSearchPath(path), parsed));

  const refused: [path: string, refusal: RegExp][] = [
    ['', /^404 .*resources\/clusters\/NAME\/api/],
    ['/pods', /^404 /],
    ['/clusters/a', /^404 /],
    ['/clusters/a/pods', /^404 /],
    ['/api/v1//pods', /^404 /],
    ['/api/v1/namespaces/demo/pods/web/log', /^404 search has no subresources: "log"/],
    ['/api/v1/pods/%zz', /^400 the path segment "%zz"/],
  ];
  for (const [path, refusal] of refused) {
    test(`${path || 'nothing'} leads nowhere`, () =>
      assert.match(
        refusalOf(() => parseSearchPath(path)),
        refusal,
      ));
  }
});

describe('field selectors', () => {
  const table: [text: string, requirements: [path: string, operator: string, ...values: string[]][]][] = [
    ['status.phase=Running', [['.status.phase', '=', 'Running']]],
    ['.status.phase == Running', [['.status.phase', '=', 'Running']]],
    [
      'metadata.name!=web,.spec.replicas>=3',
      [
        ['.metadata.name', '!=', 'web'],
        ['.spec.replicas', '>=', '3'],
      ],
    ],
    [
      '.a<1,.b<=2,.c>3',
      [
        ['.a', '<', '1'],
        ['.b', '<=', '2'],
        ['.c', '>', '3'],
      ],
    ],
    ['.spec.containers[].image in (a:1, "b,c")', [['.spec.containers[].image', 'in', 'a:1', 'b,c']]],
    ['.a notin(x)', [['.a', 'notin', 'x']]],
    ['.a in (in, notin)', [['.a', 'in', 'in', 'notin']]],
    [
      '.a , !.b',
      [
        ['.a', 'exists'],
        ['.b', '!exists'],
      ],
    ],
    [
      '.a exists,.b !exists',
      [
        ['.a', 'exists'],
        ['.b', '!exists'],
      ],
    ],
    ["metadata.annotations['a.b/c']=x", [[".metadata.annotations['a.b/c']", '=', 'x']]],
    ["['a,=b']=x", [["['a,=b']", '=', 'x']]],
    [".a.'x.y'=1", [[".a.'x.y'", '=', '1']]],
    [".a=''", [['.a', '=', '']]],
    ['.a="it\'s, so"', [['.a', '=', "it's, so"]]],
    [String.raw`.a=x\,y\=z\\`, [['.a', '=', String.raw`x,y=z\ `.trim()]]],
    ['.exists=1', [['.exists', '=', '1']]],
    ['.a=two words ', [['.a', '=', 'two words']]],
  ];
  for (const [text, requirements] of table) {
    test(text, () =>
      assert.deepEqual(
        parseFieldSelector(text),
        requirements.map(([path, operator, ...values]) => ({ path, operator, values })),
      ),
    );
  }

  const refused: [text: string, refusal: RegExp][] = [
    ['.a=', /expected a value \(.*!\.a finds.*\) at its end/],
    ['.a in ()', /expected a value .* before "\)"/],
    ['.a in x', /expected '\(' before "x"/],
    ['.a in (x', /expected ',' or '\)' at its end/],
    ['.a~x', /expected an operator/],
    ['.a like x', /expected an operator .* before "like x"/],
    ['.a=b=c', /expected ',' or the end before "=c"/],
    [',', /expected the path of a field before ","/],
    ['.a=1,', /expected the path of a field at its end/],
    ['=1', /expected the path of a field before "=1"/],
  ];
  for (const [text, refusal] of refused) {
    test(`${text} is refused`, () => {
      const told = refusalOf(() => parseFieldSelector(text));
      assert.match(told, refusal);
      assert.ok(told.startsWith(`400 fieldSelector ${JSON.stringify(text)}: `), told);
    });
  }

  test('a path that is none is refused', () => {
    assert.match(
      refusalOf(() => parseFieldSelector('.a..b=1')),
      /^400 fieldSelector: .*"\.a\.\.b"/,
    );
  });
});

describe('parameters', () => {
  const list: ObjectsPath = { about: 'objects', group: '', version: 'v1', resource: 'pods' };
  const parse = (query: string, path = list) => parseSearchQuery(new URLSearchParams(query), path);

  const table: [query: string, parameters: object][] = [
    ['', {}],
    ['clusters=a, b,a&names=x', { clusters: ['a', 'b'], names: ['x'] }],
    ['namespaces=n,m', { namespaces: ['n', 'm'] }],
    ['limit=10&continue=abc', { limit: 10, continue: 'abc' }],
    ['limit=0&labelSelector=&fieldSelector=', {}],
    [
      'orderby=createdAt desc,name',
      {
        orderBy: [
          { field: 'createdAt', descending: true },
          { field: 'name', descending: false },
        ],
      },
    ],
    ['includeObject=Object', { includeObject: 'Object' }],
    ['watch=false&pretty=true&timeout=32s&resourceVersion=0', {}],
    [
      'fieldSelector=status.phase%3DRunning',
      { fields: [{ path: '.status.phase', operator: '=', values: ['Running'] }] },
    ],
    [
      `labelSelector=${encodeURIComponent('a=1,!b,c>2,d in (x,y),e,f<3,g!=4,h notin (z)')}`,
      {
        labels: [
          { key: 'a', operator: '=', values: ['1'] },
          { key: 'b', operator: '!exists', values: [] },
          { key: 'c', operator: 'gt', values: ['2'] },
          { key: 'd', operator: 'in', values: ['x', 'y'] },
          { key: 'e', operator: 'exists', values: [] },
          { key: 'f', operator: 'lt', values: ['3'] },
          { key: 'g', operator: '!=', values: ['4'] },
          { key: 'h', operator: 'notin', values: ['z'] },
        ],
      },
    ],
  ];
  for (const [query, parameters] of table) {
    test(query || 'none', () => assert.deepEqual(parse(query), { includeObject: 'Metadata', ...parameters }));
  }

  test('of the path', () => {
    assert.deepEqual(parse('', { ...list, cluster: 'a', namespace: 'n', name: 'x' }), {
      clusters: ['a'],
      namespaces: ['n'],
      names: ['x'],
      includeObject: 'Metadata',
    });
  });

  const refused: [query: string, refusal: RegExp, path?: Partial<ObjectsPath>][] = [
    ['label=a', /^400 "label" is no parameter of a search: it has clusters, /],
    ['limit=1&limit=2', /^400 limit is there twice/],
    ['limit=-1', /^400 limit: "-1"/],
    ['limit=1e3', /^400 limit: "1e3"/],
    ['clusters=', /^400 clusters: "" has an empty name in it/],
    ['names=a,,b', /^400 names: "a,,b"/],
    ['clusters=a', /^400 clusters: the path is of cluster "b" alone/, { cluster: 'b' }],
    ['namespaces=a', /^400 namespaces: the path is of namespace "b" alone/, { namespace: 'b' }],
    ['orderby=age', /^400 orderby: "age" is not FIELD.*createdAt/],
    ['orderby=name down', /^400 orderby: "name down"/],
    ['orderby=name,name desc', /^400 orderby: name is there twice/],
    ['labelSelector=a=(', /^400 labelSelector "a=\(": unable to parse requirement/],
    ['fieldSelector=.a%3D', /^400 fieldSelector ".a=": expected a value/],
    ['resourceVersion=5', /^400 resourceVersion: "5"/],
    ['watch=true', /^405 watch/],
    ['includeObject=All', /^400 includeObject: "All" is none of/],
    ['labelSelector=a', /^400 "labelSelector" is no parameter of one object/, { cluster: 'a', name: 'x' }],
  ];
  for (const [query, refusal, path = {}] of refused) {
    test(`${query} is refused`, () =>
      assert.match(
        refusalOf(() => parse(query, { ...list, ...path })),
        refusal,
      ));
  }
});
