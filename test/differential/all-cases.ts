import { accessCases } from './cases/access-cases.ts';
import { admissionCases } from './cases/admission-cases.ts';
import { applyCases } from './cases/apply-cases.ts';
import { customResourceCases } from './cases/custom-resource-cases.ts';
import { deleteCases } from './cases/delete-cases.ts';
import { discoveryCases } from './cases/discovery-cases.ts';
import { identityCases } from './cases/identity-cases.ts';
import { kindCases } from './cases/kind-cases.ts';
import { lifeCases } from './cases/life-cases.ts';
import { listCases } from './cases/list-cases.ts';
import { patchCases } from './cases/patch-cases.ts';
import { signingCases } from './cases/signing-cases.ts';
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
    accessCases,
    identityCases,
    signingCases,
    admissionCases,
    lifeCases,
  ];
  return families.flatMap((family) => family(seed));
}
