import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mergeSwagger } from './merge-swagger.ts';

const to = (name: string) => ({ $ref: `#/definitions/${name}` });

test('what both say alike stays one, what differs gets a name of its own, and so does what refers to it', () => {
  const own = {
    paths: { '/a': {} },
    definitions: { Same: { type: 'string' }, Meta: { type: 'object' }, Holder: to('Meta'), Meta_v2: {} },
  };
  const part = {
    paths: { '/b': to('Widget') },
    definitions: {
      Same: { type: 'string' },
      Meta: { type: 'object', description: 'older' },
      Holder: to('Meta'),
      Widget: { properties: { holder: to('Holder'), same: to('Same') } },
    },
  };
  assert.deepEqual(mergeSwagger(own, part), {
    paths: { '/a': {}, '/b': to('Widget') },
    definitions: {
      ...own.definitions,
      Meta_v3: { type: 'object', description: 'older' },
      Holder_v2: to('Meta_v3'),
      Widget: { properties: { holder: to('Holder_v2'), same: to('Same') } },
    },
  });
  assert.equal(mergeSwagger(own, undefined), own);
});
