import assert from 'node:assert/strict';
import { test } from 'node:test';
import { admission, admittedIn } from './admitted.ts';
import { type Callers, NO_CALLERS } from './callers.ts';

const NOW = Date.parse('2026-01-02T03:04:05Z');
const HOUR = 3_600_000;
const users = (data: Record<string, string>, callers: Callers, now: number): string[] =>
  admittedIn({ metadata: { name: 'callers' }, data }, callers, now).map(({ user }) => user);

test('who was let in without a binding counts for an hour', () => {
  const data = { ...admission('root', NO_CALLERS, NOW), ...admission('ann lee <a@b>', NO_CALLERS, NOW) };
  assert.deepEqual(users(data, NO_CALLERS, NOW).toSorted(), ['ann lee <a@b>', 'root']);
  assert.deepEqual(users(data, NO_CALLERS, NOW + HOUR), []);
  assert.ok(
    Object.keys(data).every((key) => /^[-._a-zA-Z0-9]{1,253}$/.test(key)),
    'keys that a ConfigMap takes',
  );
});

test('and not beside another RBAC', () => {
  const data = admission('root', NO_CALLERS, NOW);
  assert.deepEqual(users(data, { users: ['ann'], groups: [], anyUser: false }, NOW), []);
});

test('what nobody wrote so is nobody', () => {
  const [entry = ''] = Object.values(admission('root', NO_CALLERS, NOW));
  assert.deepEqual(users({ 'callers.json': entry, 'admitted.x': 'root', 'admitted.y': '' }, NO_CALLERS, NOW), []);
  const forEver = entry.replace(/^\S+/, '9999-01-01T00:00:00Z');
  assert.deepEqual(users({ 'admitted.z': forEver }, NO_CALLERS, NOW), []);
});
