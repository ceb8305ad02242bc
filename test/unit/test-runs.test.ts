import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, test } from 'node:test';

const SCRIPTS = fileURLToPath(new URL('../../scripts', import.meta.url));
const { capabilityOf, chooseTests } = (await import(`${SCRIPTS}/choose-tests.js`)) as {
  capabilityOf: (file: string) => string;
  chooseTests: (files: readonly string[], words: readonly string[]) => string[];
};
const { sharesProcess } = (await import(`${SCRIPTS}/shares-process.js`)) as {
  sharesProcess: (file: string) => boolean;
};

describe('the words of a test run', () => {
  const PLACE = 'test/e2e/place/which-policy.test.ts';
  const DELIVER = 'test/e2e/deliver/replace-and-place.test.ts';
  const DOCS = 'test/docs/links.test.ts';
  const FILES = [PLACE, DELIVER, DOCS];

  for (const [name, words, expected] of [
    ['none: all files', [], FILES],
    ['a capability: its own files', ['place'], [PLACE]],
    ['a part of a path', ['which'], [PLACE]],
    ['two words: the files of both, in their order', ['docs', 'deliver'], [DELIVER, DOCS]],
  ] as const)
    test(name, () => assert.deepEqual(chooseTests(FILES, words), expected));

  test('a word of no file is an error that names the capabilities', () =>
    assert.throws(() => chooseTests(FILES, ['place', 'plaice']), {
      message: 'no path of a test contains "plaice"; the capabilities are deliver, docs, place',
    }));
});

test('each end-to-end test has a capability that test/README.md lists', () => {
  const files = ['test/e2e/**/*.test.ts', 'test/packages/*.test.ts', 'test/docs/*.test.ts'].flatMap((pattern) =>
    globSync(pattern),
  );
  const readme = readFileSync('test/README.md', 'utf8');
  const table = readme.slice(readme.indexOf('| capability |'), readme.indexOf('## How files run'));
  const listed = [...table.matchAll(/^\| (`.*?) \|/gm)].flatMap(([, names = '']) => names.match(/\w+/g) ?? []);
  assert.deepEqual([...new Set(files.map(capabilityOf))].sort(), listed.sort());
});

describe('a test file shares a process', () => {
  for (const [name, source, expected] of [
    ['that starts a server', "import { createServer } from 'node:http';", true],
    ['not when it starts processes', "import { spawn } from 'node:child_process';", false],
    ['not when its test code does', "import { start } from './testing/start.ts';", false],
    ['not when it fakes timers', 't.mock.timers.enable();', false],
    ['not when it measures memory', 'process.memoryUsage();', false],
  ] as const)
    test(name, async (t) => {
      const folder = await mkdtemp(join(tmpdir(), 'asterism-test-runs-'));
      t.after(() => rm(folder, { recursive: true }));
      await mkdir(join(folder, 'testing'));
      await writeFile(join(folder, 'testing/start.ts'), "import { fork } from 'node:child_process';");
      await writeFile(join(folder, 'x.test.ts'), source);
      assert.equal(sharesProcess(join(folder, 'x.test.ts')), expected);
    });
});
