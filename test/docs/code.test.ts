import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { globSync } from 'node:fs';
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { test } from 'node:test';
import { readDocument } from './read-document.ts';

test('TypeScript that a document saves as a file has no type errors', async () => {
  const documents = await Promise.all(globSync('docs/**/*.md').map((path) => readDocument(path)));
  const folder = await mkdtemp(join(tmpdir(), 'asterism-docs-code-'));
  const files = documents.flatMap(({ steps }) => steps.filter((step) => step.kind === 'file'));
  const sources = files.filter(({ name }) => name.endsWith('.ts'));
  assert.notEqual(sources.length, 0);
  await Promise.all(sources.map(({ name, text }) => writeFile(join(folder, name), text)));
  await symlink(resolve('node_modules'), join(folder, 'node_modules'));
  await writeFile(join(folder, 'package.json'), '{"type": "module"}');
  const config = { extends: resolve('tsconfig.json'), include: ['*.ts'], exclude: [] };
  const compilerOptions = { typeRoots: [resolve('node_modules/@types')] };
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify({ ...config, compilerOptions }));
  const { status, stdout } = spawnSync('tsc', ['-p', folder], { encoding: 'utf8' });
  assert.equal(status, 0, stdout);
  await rm(folder, { recursive: true });
});
