import { escapeControls } from '@asterism/machinery';
import type { ServerLogger } from '../contract/server-logger.ts';
import type { AuditOptions } from './audit-options.ts';
import { readAuditPolicy } from './read-audit-policy.ts';
import { Auditor } from './auditor.ts';
import type { LineTarget } from './line-queue.ts';
import { RotatingFile } from './rotating-file.ts';

/** Rejects with `AuditError` where the policy is not valid or the log cannot be opened. */
export async function createAuditor(
  { policy, log, sink }: AuditOptions,
  { clock, logger }: { clock: () => number; logger: ServerLogger | undefined },
): Promise<Auditor> {
  const read = await readAuditPolicy(policy);
  const targets: Record<string, LineTarget> = {};
  if (log !== undefined) targets.log = log.path === '-' ? STANDARD_OUTPUT : await RotatingFile.open(log, clock);
  if (sink !== undefined) targets.sink = sinkTarget(sink);
  return new Auditor({ policy: read, targets, logger, clock });
}

const STANDARD_OUTPUT: LineTarget = {
  write: async (lines, onWritten) => {
    const text = escapeControls(`${lines.join('\n')}\n`);
    await new Promise<void>((resolve, reject) => {
      process.stdout.write(text, (error) => (error ? reject(error) : resolve()));
    });
    onWritten(lines.length);
  },
  close: () => Promise.resolve(),
};

function sinkTarget(sink: NonNullable<AuditOptions['sink']>): LineTarget {
  return {
    write: async (lines, onWritten) => {
      await sink(lines);
      onWritten(lines.length);
    },
    close: () => Promise.resolve(),
  };
}
