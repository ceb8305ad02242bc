import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { test } from 'node:test';

const DOCUMENTS = globSync([
  '*.md',
  'docs/**/*.md',
  'packages/*/README.md',
  'test/*/README.md',
  'bench/README.md',
  'examples/*/README.md',
]).sort();

/** Without code, where what looks like a link is none. */
const proseOf = (path: string): string =>
  readFileSync(path, 'utf8')
    .replaceAll(/^\s*(`{3,})[^\n]*\n[\s\S]*?^\s*\1\s*$/gm, '')
    .replaceAll(/`[^`\n]*`/g, (code) => code.replaceAll(/[[\]()]/g, ' '));

/** The anchors that a Markdown page has: GitHub's rule for headings. */
function anchorsOf(path: string): Set<string> {
  const headings = [...proseOf(path).matchAll(/^#{1,6} +(.+)$/gm)].map((match) => match[1] ?? '');
  return new Set(
    headings.map((heading) =>
      heading
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
        .trim()
        .replaceAll(/\s/g, '-'),
    ),
  );
}

function faultOf(from: string, link: string): string | undefined {
  const [path = '', anchor] = link.split('#');
  const target = path === '' ? from : normalize(join(dirname(from), path));
  if (!existsSync(target)) return `${from}: ${link} leads nowhere`;
  if (anchor === undefined) return undefined;
  if (statSync(target).isDirectory()) return `${from}: ${link}: a folder has no headings`;
  return anchorsOf(target).has(anchor) ? undefined : `${from}: ${target} has no heading #${anchor}`;
}

test('links between documents lead to a file, and to a heading that it has', () => {
  const faults = DOCUMENTS.flatMap((document) =>
    [...proseOf(document).matchAll(/\[[^\]]*\]\(([^)\s]+)\)/g)]
      .map((match) => match[1] ?? '')
      .filter((link) => !/^[a-z]+:/.test(link))
      .map((link) => faultOf(document, link)),
  );
  assert.deepEqual(
    faults.filter((fault) => fault !== undefined),
    [],
  );
});

test('every page of docs can be reached from its map', () => {
  const seen = new Set<string>();
  const visit = (path: string): void => {
    if (seen.has(path) || !existsSync(path)) return;
    seen.add(path);
    if (statSync(path).isDirectory()) {
      for (const page of globSync(`${path}/*.md`)) visit(page);
      return;
    }
    for (const match of proseOf(path).matchAll(/\]\(([^)#\s]+)/g))
      visit(normalize(join(dirname(path), match[1] ?? '')));
  };
  visit('docs/README.md');
  const unseen = globSync('docs/**/*.md').filter((path) => !seen.has(path));
  assert.deepEqual(unseen.sort(), []);
});
