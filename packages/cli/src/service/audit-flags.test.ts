import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { CommandError, EXIT } from '../exit-code.ts';
import { type AuditFlags, readAuditFlags } from './audit-flags.ts';

test('without flags there is no audit log', async () => {
  assert.equal(await readAuditFlags({}), undefined);
});

test('the policy is the content of its file, and the limits are numbers', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'asterism-audit-flags-'));
  try {
    const auditPolicyFile = join(folder, 'policy.yaml');
    await writeFile(auditPolicyFile, 'kind: Policy\n');
    const flags = {
      auditPolicyFile,
      auditLogPath: '/var/log/audit.log',
      auditLogMaxsize: '10',
      auditLogMaxbackup: '3',
    };
    assert.deepEqual(await readAuditFlags(flags), {
      policy: 'kind: Policy\n',
      log: { path: '/var/log/audit.log', maxSize: 10, maxBackups: 3 },
    });
  } finally {
    await rm(folder, { recursive: true });
  }
});

const faults: [name: string, flags: AuditFlags, message: RegExp][] = [
  ['a policy without a log', { auditPolicyFile: 'x' }, /--audit-log-path: is missing/],
  ['a limit without a log', { auditLogMaxage: '1' }, /--audit-log-path: is missing/],
  ['a log without a name', { auditLogPath: '' }, /--audit-log-path: it is empty/],
  ['a log without a policy', { auditLogPath: 'x' }, /--audit-policy-file: is missing/],
  [
    'a policy that is not there',
    { auditLogPath: 'x', auditPolicyFile: '/none' },
    /--audit-policy-file: \/none .*ENOENT/,
  ],
  [
    'a limit that is no number',
    { auditLogPath: 'x', auditLogMaxsize: '1M' },
    /--audit-log-maxsize: "1M" is not a whole/,
  ],
  ['a limit below nothing', { auditLogPath: 'x', auditLogMaxbackup: '-1' }, /--audit-log-maxbackup: "-1" is not/],
];

for (const [name, flags, message] of faults) {
  test(`refused as wrong usage: ${name}`, async () => {
    await assert.rejects(
      readAuditFlags(flags),
      (error: unknown) => error instanceof CommandError && error.exitCode === EXIT.usage && message.test(error.message),
    );
  });
}
