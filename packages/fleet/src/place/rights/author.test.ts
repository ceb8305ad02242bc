import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { AUTHOR_ANNOTATION } from '../../api/index.ts';
import { formatAuthor, MAX_AUTHOR_BYTES, readAuthor } from './author.ts';
import { formatSubject } from './subject.ts';

const recorded = (text: string) => readAuthor({ metadata: { annotations: { [AUTHOR_ANNOTATION]: text } } });

describe('the recorded author of a policy', () => {
  test('is read as it was written', () => {
    const author = { username: 'tom', uid: '7', groups: ['a', 'b'], extra: { 'acme.example/scope': ['x'] } };
    assert.deepEqual(recorded(formatAuthor(author) ?? ''), author);
    assert.equal(readAuthor({ metadata: {} }), undefined);
  });

  test('an identity that is too long is not recorded', () => {
    assert.equal(formatAuthor({ username: 'tom', groups: ['g'.repeat(MAX_AUTHOR_BYTES)] }), undefined);
  });

  for (const text of ['', 'tom', '[]', 'null', '{}', '{"username":"","groups":[]}', '{"username":"tom"}']) {
    test(`${JSON.stringify(text)} is none`, () => assert.equal(recorded(text), undefined));
  }
  for (const wrong of [
    '"groups":[1]',
    '"groups":[],"uid":1',
    '"groups":[],"extra":{"a":"b"}',
    '"groups":[],"extra":[1]',
  ]) {
    test(`${wrong} is none`, () => assert.equal(recorded(`{"username":"tom",${wrong}}`), undefined));
  }

  test('is named in messages as users, groups and service accounts are', () => {
    assert.equal(formatSubject({ username: 'tom', groups: [] }), 'user "tom"');
    assert.equal(formatSubject({ groups: ['team-a'] }), 'group "team-a"');
    assert.ok(formatSubject({ username: 'u'.repeat(60_000), groups: [] }).length < 300);
    assert.equal(formatSubject({ username: 'system:serviceaccount:ci:bot', groups: [] }), 'service account ci/bot');
  });
});
