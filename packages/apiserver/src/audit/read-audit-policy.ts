import { isJsonObject } from '@asterism/machinery';
import { parseYaml } from '../http/body/parse-yaml.ts';
import { AuditError } from './audit-error.ts';
import type { AuditPolicy } from './audit-policy.ts';
import { checkPolicy } from './check-policy.ts';

/** Reads a policy, or the text of one. Rejects with `AuditError` `AUDIT_POLICY` that names every fault. */
export async function readAuditPolicy(given: string | object): Promise<AuditPolicy> {
  const value = typeof given === 'string' ? await parsePolicy(given) : given;
  if (!isJsonObject(value)) throw invalidPolicy(['it is not an object']);
  const faults = checkPolicy(value);
  if (faults.length > 0) throw invalidPolicy(faults);
  // A policy of the caller's may change later; null is the same as nothing.
  return withoutNulls(value) as unknown as AuditPolicy;
}

async function parsePolicy(text: string): Promise<unknown> {
  const { value, duplicates } = await parseYaml(text).catch((error: Error) => {
    throw invalidPolicy([error.message], error);
  });
  if (duplicates.length > 0) throw invalidPolicy(duplicates);
  return value;
}

function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls);
  if (!isJsonObject(value)) return value;
  const members = Object.entries(value).filter(([, member]) => member !== null && member !== undefined);
  return Object.fromEntries(members.map(([name, member]) => [name, withoutNulls(member)]));
}

function invalidPolicy(faults: readonly string[], cause?: Error): AuditError {
  return new AuditError('AUDIT_POLICY', `the audit policy is not valid: ${faults.join('; ')}`, cause && { cause });
}
