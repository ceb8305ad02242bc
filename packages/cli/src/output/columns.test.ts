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

test('a cell stays one line and shows the controls that are in it', () => {
  const row = ['a\nb\tc', '\u001b[31md', '\u009b2J'];
  assert.equal(formatColumns([row, ['x', 'y', 'z']]), 'a\\nb\\tc   ^[[31md   \\u009b2J\nx         y         z\n');
});

test('colours take no room, wide characters take two columns', () => {
  assert.equal(displayWidth('\u001b[32mok\u001b[0m'), 2);
  assert.equal(displayWidth('集群'), 4);
});
