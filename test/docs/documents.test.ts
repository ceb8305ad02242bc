import { globSync } from 'node:fs';
import { describe, test } from 'node:test';
import { readDocument } from './read-document.ts';
import { runDocument, unlessRunnable } from './run-document.ts';
import { isolation } from './shell.ts';

/** What stands in pages that carry no comments for a test. The Chinese README has the commands of the English one (readmes.test.ts). */
const NOTES = {
  'npm ci && npm start': 'background, ready when /^ready https:\\/\\/127\\.0\\.0\\.1:7443$/',
  'npm ci && npm test ': 'not run: these are the suites, of which this test is part',
};

const documents = await Promise.all(
  ['README.md', 'CONTRIBUTING.md', ...globSync('docs/**/*.md').sort()].map((path) => readDocument(path, NOTES)),
);

/** Two at a time where neither sees the other: they listen on the same ports. */
const concurrency = isolation() === undefined ? 1 : 2;

describe('every command in the documents does what they say', { concurrency }, () => {
  for (const document of documents) {
    if (!document.steps.some(({ kind }) => kind === 'run' || kind === 'background')) continue;
    test(document.path, { skip: unlessRunnable(document) }, () => runDocument(document));
  }
});
