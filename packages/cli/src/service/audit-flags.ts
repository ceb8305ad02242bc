import { readFile } from 'node:fs/promises';
import type { AuditOptions } from '@asterism/hub';
import { CommandError, EXIT } from '../exit-code.ts';

/** The flags of an audit log, in upstream's names, as they were typed. */
export interface AuditFlags {
  auditPolicyFile?: string;
  auditLogPath?: string;
  auditLogMaxsize?: string;
  auditLogMaxage?: string;
  auditLogMaxbackup?: string;
}

/** Undefined where no log is asked for. Rejects as wrong usage, naming the flag. */
export async function readAuditFlags(flags: AuditFlags): Promise<AuditOptions | undefined> {
  const { auditPolicyFile, auditLogPath } = flags;
  const limits = {
    ...readLimit('--audit-log-maxsize', 'maxSize', flags.auditLogMaxsize),
    ...readLimit('--audit-log-maxage', 'maxAge', flags.auditLogMaxage),
    ...readLimit('--audit-log-maxbackup', 'maxBackups', flags.auditLogMaxbackup),
  };
  if (auditLogPath === undefined) {
    if (auditPolicyFile === undefined && Object.keys(limits).length === 0) return undefined;
    throw wrong('--audit-log-path', 'is missing: where shall the audit log be written?');
  }
  if (auditLogPath === '') throw wrong('--audit-log-path', 'it is empty');
  if (auditPolicyFile === undefined) {
    throw wrong('--audit-policy-file', 'is missing: without a policy nothing would be written to the audit log');
  }
  return { policy: await readPolicy(auditPolicyFile), log: { path: auditLogPath, ...limits } };
}

async function readPolicy(file: string): Promise<string> {
  return await readFile(file, 'utf8').catch(({ code }: NodeJS.ErrnoException) => {
    throw wrong('--audit-policy-file', `${file} cannot be read (${code}): give the file with the policy (YAML)`);
  });
}

function readLimit<Name extends string>(
  flag: string,
  name: Name,
  text: string | undefined,
): { [Key in Name]?: number } {
  if (text === undefined) return {};
  if (!/^\d{1,9}$/.test(text)) throw wrong(flag, `${JSON.stringify(text)} is not a whole number from 0 on`);
  return { [name]: Number(text) } as { [Key in Name]?: number };
}

function wrong(flag: string, why: string): CommandError {
  return new CommandError(`${flag}: ${why}`, EXIT.usage);
}
