import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';

const PAGE = 'docs/explanation/security-model.md';

/** Statements are the items of lists, and the rows of tables after the two of their head. */
const statements = readFileSync(PAGE, 'utf8')
  .split('\n')
  .filter((line, index, lines) => line.startsWith('- ') || (line.startsWith('|') && lines[index - 2]?.startsWith('|')));

test('the security model has statements', () => assert.ok(statements.length > 70, `${statements.length}`));

for (const statement of statements)
  test(`a test says so: ${statement.slice(0, 80)}`, () => {
    const links = [...statement.matchAll(/\]\(([^)\s]+\.test\.ts)\)/g)].map(([, link = '']) =>
      join(dirname(PAGE), link),
    );
    assert.ok(links.length > 0, 'name the test that fails when it is no longer true');
    for (const link of links) assert.ok(existsSync(link), `${link} does not exist`);
  });
