import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { decideTemplatesHome, type TemplatesHome } from './templates-home.ts';

const HOST: TemplatesHome = { in: 'host' };
const MINE: TemplatesHome = { in: 'embedded', store: 'mine' };

const rows: [name: string, home: TemplatesHome, recorded: string | undefined, placed: boolean, verdict: string][] = [
  ['host, as ever', HOST, undefined, true, 'Fine'],
  ['host, in a new fleet', HOST, undefined, false, 'Fine'],
  ['host, where an embedded store places things', HOST, 'mine', true, 'Refuse'],
  ['host, where an embedded store never placed anything', HOST, 'mine', false, 'Forget'],
  ['embedded, in a new fleet', MINE, undefined, false, 'Record'],
  ['embedded, where things are placed from the host', MINE, undefined, true, 'Refuse'],
  ['embedded, as ever', MINE, 'mine', true, 'Fine'],
  ['embedded, its own store, nothing placed', MINE, 'mine', false, 'Fine'],
  ['embedded, another store', MINE, 'theirs', true, 'Refuse'],
  ['embedded, another store that may just be starting', MINE, 'theirs', false, 'Refuse'],
];

describe('where templates may be looked for', () => {
  for (const [name, home, recorded, placed, verdict] of rows) {
    test(`${name}: ${verdict}`, () => assert.equal(decideTemplatesHome(home, recorded, placed).verdict, verdict));
  }

  test('a refusal says where they are and what to do', () => {
    const elsewhere = decideTemplatesHome(MINE, 'theirs', true);
    assert.ok(elsewhere.verdict === 'Refuse');
    assert.match(elsewhere.message, /theirs.*ConfigMap asterism-system\/templates.*mine.*restore it from a backup/);
  });
});
