import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { matchesOutput } from './matches-output.ts';
import { parseDocument } from './read-document.ts';
import { runDocument } from './run-document.ts';

const document = (...lines: string[]) => parseDocument('page.md', lines.join('\n'));

describe('a document', () => {
  test('is read as what a reader does', () => {
    const { needs, steps } = document(
      '<!-- test: needs kubectl -->',
      '<!-- test: file a.yaml -->',
      '```yaml',
      'a: 1',
      '```',
      '<!-- test: ends with 2 -->',
      '```console',
      '$ one \\',
      '> two',
      'printed',
      '$ three',
      '```',
      '<!-- test: not run: too far away -->',
      '```sh',
      'ssh far',
      '```',
      '```text',
      'no command',
      '```',
    );
    assert.deepEqual(needs, ['kubectl']);
    assert.deepEqual(steps, [
      { kind: 'file', line: 4, name: 'a.yaml', text: 'a: 1\n' },
      { kind: 'run', line: 8, command: 'one \\\ntwo', expected: 'printed', exitCode: 2, repeat: false },
      { kind: 'run', line: 11, command: 'three', exitCode: 2, repeat: false },
      { kind: 'not run', line: 15, reason: 'too far away' },
    ]);
  });

  for (const [what, lines, error] of [
    ['a comment that is not known', ['<!-- test: later -->', '```sh', 'a', '```'], /page\.md:1: .*"test: later"/],
    ['no reason', ['<!-- test: not run: -->', '```sh', 'a', '```'], /page\.md:1/],
    ['a comment about no block', ['<!-- test: ends with 1 -->'], /about no block/],
    ['commands under another name', ['```bash', 'a', '```'], /page\.md:2: .*sh or console, not bash/],
  ] as const) {
    test(`is refused for ${what}`, () => assert.throws(() => document(...lines), error));
  }

  for (const [what, lines, error] of [
    ['a command that fails', ['```sh', 'true', 'false', 'true', '```'], /page\.md:2: .*ended with 1/s],
    ['another exit code', ['<!-- test: ends with 3 -->', '```sh', 'exit 4', '```'], /ended with 4/],
    ['other output', ['```console', '$ echo b', 'a', '```'], /does not say\na\nbut ended with 0:\nb/],
    ['an end too early', ['<!-- test: background, ready when /up/ -->', '```sh', 'echo down', '```'], /down/],
    ['kubectl that it does not name', ['```sh', 'kubectl version --client', '```'], /ended with 1/],
  ] as const) {
    test(`fails for ${what}`, () => assert.rejects(runDocument(document(...lines)), error));
  }

  test('keeps folder, variables, files and what runs, and stops that by Ctrl-C', async () => {
    const page = document(
      '<!-- test: file words -->',
      '```text',
      'hello',
      '```',
      '<!-- test: background, ready when /^up$/ -->',
      '```sh',
      `echo up; trap 'rm words; exit 0' INT; while :; do sleep 0.1; done`,
      '```',
      '```sh',
      'mkdir below && cd below',
      'WHERE=$PWD',
      '```',
      '```console',
      '$ cat "$WHERE"/../words',
      'hello',
      '```',
      '<!-- test: interrupt -->',
      '<!-- test: ends with 1 -->',
      '```console',
      '$ cat ../words',
      'cat: …',
      '```',
    );
    await runDocument(page);
  });
});

describe('output', () => {
  for (const [expected, printed, matches] of [
    ['a  b', 'a b\n', true],
    ['a', 'a\nb', false],
    ['a\nb', 'a', false],
    ['a … c', 'a b c', true],
    ['…\nc', 'a\nb\nc', true],
    ['…\nc', 'c', true],
    ['a\n…', 'a', true],
    ['a\n…\nd', 'a\nb\nc', false],
    ['1.5 (x)', '1.5 (x)', true],
    ['1.5', '125', false],
  ] as const) {
    test(`${JSON.stringify(printed)} is ${matches ? '' : 'not '}${JSON.stringify(expected)}`, () =>
      assert.equal(matchesOutput(expected, printed), matches));
  }
});
