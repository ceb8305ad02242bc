import type { CalibrationResult } from './calibrate.ts';
import type { Detail } from './bench.ts';
import type { Environment } from './environment.ts';
import type { Finding } from './judge.ts';

/** All that one run found: what `--json` writes. */
export interface Report {
  /** Of this shape. */
  format: 1;
  bench: string;
  summary: string;
  environment: Environment;
  calibration: CalibrationResult[];
  figures: Finding[];
  details: Detail[];
  /** How long the run took, calibration included. */
  seconds: number;
  /** What ended the bench before its end. */
  failure?: string;
}
