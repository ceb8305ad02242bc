import assert from 'node:assert/strict';
import { test } from 'node:test';
import { planMembers } from './member-plan.ts';

test('three members are one of each kind; two are enough for the demo', () => {
  const kinds = planMembers(3).map(({ name, syncMode, private: isPrivate }) => [name, syncMode, isPrivate]);
  assert.deepEqual(kinds, [
    ['alder', 'Push', false],
    ['cedar', 'Pull', true],
    ['birch', 'Pull', false],
  ]);
  assert.deepEqual(
    planMembers(2).map(({ labels }) => labels['tier']),
    ['production', 'production'],
  );
});

test('names and nodes are never given twice', () => {
  const members = planMembers(50);
  assert.equal(new Set(members.map(({ name }) => name)).size, 50);
  assert.equal(
    new Set(members.flatMap(({ nodes }) => nodes.map(({ name }) => name))).size,
    members.flatMap(({ nodes }) => nodes).length,
  );
});
