import type { Bench, Detail, Measurement } from './bench.ts';
import type { CalibrationResult } from './calibrate.ts';
import type { Environment } from './environment.ts';
import { judge } from './judge.ts';
import type { Report } from './report.ts';

export interface RunOptions {
  environment: Environment;
  calibrate: () => CalibrationResult[];
  progress: (text: string) => void;
  signal: AbortSignal;
}

/**
 * Runs one bench to its end, to its time limit, or to its failure; what was measured until then is in the report, the rest
 * is `not measured`, with the reason.
 */
export async function runBench(bench: Bench, options: RunOptions): Promise<Report> {
  const started = performance.now();
  options.progress('calibrating');
  const calibration = options.calibrate();
  const measured = new Map<string, Measurement>();
  const details: Detail[] = [];
  const failure = await failureOf(bench, {
    measured,
    details,
    progress: options.progress,
    signal: AbortSignal.any([options.signal, AbortSignal.timeout(bench.minutes * 60_000)]),
  });
  const figures = Object.entries(bench.figures).map(([id, spec]) =>
    judge(id, spec, measured.get(id) ?? (failure === undefined ? undefined : { notMeasured: failure })),
  );
  return {
    format: 1,
    bench: bench.name,
    summary: bench.summary,
    environment: options.environment,
    calibration,
    figures,
    details,
    seconds: (performance.now() - started) / 1000,
    ...(failure === undefined ? {} : { failure }),
  };
}

interface Found {
  measured: Map<string, Measurement>;
  details: Detail[];
  progress: (text: string) => void;
  signal: AbortSignal;
}

async function failureOf(bench: Bench, { measured, details, progress, signal }: Found): Promise<string | undefined> {
  try {
    await bench.run({
      report: (figure, measurement) => measured.set(figure, measurement),
      detail: (detail) => details.push(detail),
      progress,
      signal,
    });
    return undefined;
  } catch (error) {
    if (signal.aborted) return `stopped: ${String((signal.reason as Error).message)}`;
    return error instanceof Error ? error.message : String(error);
  }
}
