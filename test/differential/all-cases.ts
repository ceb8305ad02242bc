import { applyCases } from './cases/apply-cases.ts';
import { customResourceCases } from './cases/custom-resource-cases.ts';
import { deleteCases } from './cases/delete-cases.ts';
import { discoveryCases } from './cases/discovery-cases.ts';
import { kindCases } from './cases/kind-cases.ts';
import { listCases } from './cases/list-cases.ts';
import { patchCases } from './cases/patch-cases.ts';
import { storageCases } from './cases/storage-cases.ts';
import { watchCases } from './cases/watch-cases.ts';
import { writeCases } from './cases/write-cases.ts';
import type { DifferentialCase } from './differential-case.ts';

/** All cases of a seed: the same seed gives the same requests. */
export function allCases(seed: number): DifferentialCase[] {
  const families = [
    kindCases,
    customResourceCases,
    patchCases,
    applyCases,
    listCases,
    watchCases,
    writeCases,
    deleteCases,
    discoveryCases,
    storageCases,
  ];
  return families.flatMap((family) => family(seed));
}
