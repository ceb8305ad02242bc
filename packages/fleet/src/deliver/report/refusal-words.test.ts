import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { failure } from '@asterism/machinery';
import { memberRefusalWords, refusalWords } from './refusal-words.ts';

const SECRET = { apiVersion: 'v1', kind: 'Secret', namespace: 'demo', name: 's' };
const details = { causes: [{ reason: 'FieldValueInvalid', message: 'hush', field: 'data[key]' }] };

describe('why an API server does not take an object', () => {
  test('in its own words', () => {
    assert.equal(refusalWords(failure(422, 'hush', { details }), { ...SECRET, kind: 'ConfigMap' }), 'hush');
  });

  for (const code of [400, 422, 500]) {
    test(`of a Secret, what may quote it is left out: ${code}`, () => {
      const words = refusalWords(failure(code, 'hush', { details }), SECRET);
      assert.doesNotMatch(words, /hush/);
      assert.match(words, /at data\[key\] \(\d+ \w+\)/);
    });
  }

  test('of a Secret too, where it speaks of rights or owners', () => {
    assert.equal(refusalWords(failure(403, 'no right'), SECRET), 'no right');
    assert.equal(memberRefusalWords(failure(403, 'no right'), SECRET), 'no right');
    assert.equal(refusalWords(failure(409, 'it exists already'), SECRET), 'it exists already');
  });

  test('of a right that is missing, with the profile that has it', () => {
    const words =
      'roles "r" is forbidden: User "u" cannot create resource "roles" in API group "rbac.authorization.k8s.io" in the namespace "n"';
    assert.match(memberRefusalWords(failure(403, words), SECRET), /^roles "r" is forbidden.*--permissions platform$/);
    assert.equal(refusalWords(failure(403, words), SECRET), words, 'a refusal of the hub is no matter of a member');
  });
});
