import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Permissions } from '@asterism/fleet/join';
import { CommandError, EXIT } from '../exit-code.ts';
import { parsePermissions, type PermissionFlags } from './permission-flags.ts';

describe('the flags of a permission profile', () => {
  const sound: [name: string, flags: PermissionFlags, expected: Permissions | undefined][] = [
    ['none', {}, undefined],
    ['platform', { permissions: 'platform' }, { profile: 'platform' }],
    ['workloads', { permissions: 'workloads' }, { profile: 'workloads' }],
    [
      'workloads with namespaces and callers',
      { permissions: 'workloads', namespaces: 'a, b', callers: 'ann', callerGroups: 'devs' },
      { profile: 'workloads', namespaces: ['a', 'b'], callers: { users: ['ann'], groups: ['devs'] } },
    ],
  ];
  for (const [name, flags, expected] of sound) test(name, () => assert.deepEqual(parsePermissions(flags), expected));

  const wrong: [name: string, flags: PermissionFlags, message: RegExp][] = [
    ['namespaces without a profile', { namespaces: 'a' }, /--namespaces requires --permissions workloads/],
    ['namespaces of another profile', { permissions: 'full', namespaces: 'a' }, /requires --permissions workloads/],
    ['callers of another profile', { permissions: 'platform', callers: 'a' }, /--callers requires/],
    ['kube-system', { permissions: 'workloads', namespaces: 'a,kube-system' }, /kube-system cannot be listed/],
    ['our own namespace', { permissions: 'workloads', namespaces: 'asterism-system' }, /cannot be listed/],
    ['no name of a namespace', { permissions: 'workloads', namespaces: 'a,,b' }, /"" is not the name/],
    ['a caller of the system', { permissions: 'workloads', callers: 'system:admin' }, /"system:admin" cannot be/],
    ['a group of the system', { permissions: 'workloads', callerGroups: 'system:masters' }, /--caller-groups/],
  ];
  for (const [name, flags, message] of wrong) {
    test(`${name} is wrong usage`, () => {
      assert.throws(
        () => parsePermissions(flags),
        (error) => error instanceof CommandError && error.exitCode === EXIT.usage && message.test(error.message),
      );
    });
  }
});
