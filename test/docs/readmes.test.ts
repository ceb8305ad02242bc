import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { EXIT } from '../../packages/cli/src/exit-code.ts';

const read = (path: string): string => readFileSync(path, 'utf8');

/** Fenced blocks, without what a comment in them says in one language or the other. */
const blocksOf = (text: string): string[] =>
  [...text.matchAll(/^```\S*\n([\s\S]*?)^```$/gm)].map((match) => (match[1] ?? '').replaceAll(/ +#.*$/gm, ''));

const linksOf = (text: string): string[] => [...text.matchAll(/\]\(([^)]+)\)/g)].map((match) => match[1] ?? '');

test('the Chinese README has the commands, links and sections of the English one', () => {
  const [english, chinese] = [read('README.md'), read('README.zh-CN.md')];
  assert.deepEqual(blocksOf(chinese), blocksOf(english));
  const others = (links: string[]): string[] => links.filter((link) => !link.startsWith('README')).sort();
  assert.deepEqual(others(linksOf(chinese)), others(linksOf(english)));
  const count = (text: string, pattern: RegExp): number => [...text.matchAll(pattern)].length;
  for (const pattern of [/^## /gm, /^\| \*\*|^\| \[/gm]) assert.equal(count(chinese, pattern), count(english, pattern));
});

test('every exit code of aster stands in the reference, and no other', () => {
  const page = read('docs/reference/exit-codes-and-environment.md');
  const told = [...page.matchAll(/^\| (\d+) \|/gm)].map((match) => Number(match[1]));
  assert.deepEqual(
    told,
    Object.values(EXIT).sort((a, b) => a - b),
  );
});
