import { unlessAborted } from '@asterism/client';

/**
 * Something that must be well.
 *
 * @example {@link createStatusServer}
 */
export interface ProbeCheck {
  name: string;
  /**
   * Returns the fault in words that every caller may read, or undefined if there is none. An error that it throws is a fault too, but
   * its message is only logged. A check that has not ended when the signal aborts has failed.
   */
  check(signal: AbortSignal): Promise<string | undefined> | string | undefined;
}

export interface Probe {
  /** `healthz` or `readyz`. */
  name: string;
  checks: readonly ProbeCheck[];
  /** Lines that decide nothing, for `?verbose` and where the probe fails. */
  remarks?: (() => readonly string[]) | undefined;
  /** Told of what a check threw. */
  onError: (check: string, error: unknown) => void;
  /** Aborts when checks have had their time. */
  signal: AbortSignal;
}

export interface ProbeAnswer {
  status: 200 | 404 | 500;
  text: string;
}

/**
 * Answers `/readyz`, `/readyz?verbose`, `/readyz?exclude=NAME` and `/readyz/NAME`, in the form of Kubernetes' own servers; but
 * what is wrong is said.
 */
export async function answerProbe(probe: Probe, path: string, query: URLSearchParams): Promise<ProbeAnswer> {
  const name = path.replace(/\/$/, '').split('/').slice(2).join('/');
  if (name === '') return await answerAll(probe, query);
  const single = probe.checks.find((check) => check.name === name);
  if (!single) return { status: 404, text: `${probe.name} has no check "${name}"\n` };
  const wrong = await run(single, probe);
  return wrong === undefined ? { status: 200, text: 'ok' } : { status: 500, text: `${name} failed: ${wrong}\n` };
}

async function answerAll(probe: Probe, query: URLSearchParams): Promise<ProbeAnswer> {
  const excluded = new Set(query.getAll('exclude').filter((name) => name !== ''));
  const asked = probe.checks.map(async (check) => {
    if (excluded.delete(check.name)) return { line: `[+]${check.name} excluded: ok`, well: true };
    const wrong = await run(check, probe);
    return wrong === undefined
      ? { line: `[+]${check.name} ok`, well: true }
      : { line: `[-]${check.name} failed: ${wrong}`, well: false };
  });
  const results = await Promise.all(asked);
  const well = results.every((each) => each.well);
  if (well && !query.has('verbose')) return { status: 200, text: 'ok' };
  const unknown = [...excluded].map((name) => JSON.stringify(name)).join(',');
  const lines = [
    ...results.map(({ line }) => line),
    ...(probe.remarks?.() ?? []).map((remark) => `[ ]${remark}`),
    ...(unknown ? [`warn: some health checks cannot be excluded: no matches for ${unknown}`] : []),
    `${probe.name} check ${well ? 'passed' : 'failed'}`,
  ];
  return { status: well ? 200 : 500, text: `${lines.join('\n')}\n` };
}

/** What is wrong; never more than one line. */
async function run({ name, check }: ProbeCheck, { onError, signal }: Probe): Promise<string | undefined> {
  try {
    const wrong = await unlessAborted(Promise.resolve(check(signal)), signal);
    return wrong?.replace(/\s+/g, ' ');
  } catch (error) {
    onError(name, error);
    return 'reason withheld';
  }
}
