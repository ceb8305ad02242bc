import assert from 'node:assert/strict';
import { test } from 'node:test';
import { displayWidth, formatColumns } from './columns.ts';

test('columns are as wide as their widest cell and three apart, without trailing blanks', () => {
  assert.equal(
    formatColumns([
      ['NAME', 'READY', ''],
      ['web-5d', '3/3', ''],
    ]),
    'NAME     READY\nweb-5d   3/3\n',
  );
});

test('colours take no room, wide characters take two columns', () => {
  assert.equal(displayWidth('\u001b[32mok\u001b[0m'), 2);
  assert.equal(displayWidth('集群'), 4);
});
