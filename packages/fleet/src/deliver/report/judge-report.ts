import type { ManifestStatus } from '../../api/index.ts';
import { type JudgedStatus, judgeStatus } from '../interpret/judge-status.ts';
import { kindKey } from '../interpret/kind-key.ts';

/** Characters of a cluster's words that the hub keeps. */
const LARGEST_MESSAGE = 2_048;

/** What the hub takes of a cluster's report on one object. */
export interface JudgedReport extends JudgedStatus {
  message?: string;
}

export function judgeReport(report: ManifestStatus): JudgedReport {
  const message = shortened(report.message);
  return { ...judgeStatus(kindKey(report), report.status), ...(message === undefined ? {} : { message }) };
}

function shortened(text: unknown): string | undefined {
  if (typeof text !== 'string') return undefined;
  return text.length > LARGEST_MESSAGE ? `${text.slice(0, LARGEST_MESSAGE - 1)}…` : text;
}
