import { conflict } from '@asterism/machinery';
import { trackFields } from '../../registry/field-ownership.ts';
import { KeyedTurns } from '../../registry/keyed-turns.ts';
import { formatTime } from '../../registry/metadata.ts';
import type { ChargedWrite, Ledger } from '../../registry/commit-write.ts';
import type { ServedVersion } from '../../registry/served-version.ts';
import type { ObjectStore } from '../../storage/object-store.ts';
import type { StoredObject } from '../../storage/stored-object.ts';
import { type Charge, chargeQuotas, isCharged } from './charge-quotas.ts';
import type { AdmissionRequest } from '../../contract/admission-step.ts';
import type { Draft } from '../../contract/strategy.ts';
import type { ObjectChange } from '../../contract/object-change.ts';

const QUOTAS = 'resourcequotas';
const TRIES = 100;

export interface QuotaLedgerOptions {
  store: ObjectStore;
  /** The version in which ResourceQuotas are stored. */
  quotas: ServedVersion;
  clock: () => number;
}

/**
 * Charges writes to the quotas of their namespace.
 *
 * Q1. What is charged is committed together with what it is charged for, or neither is: there is nothing to give back where a write
 *     fails, and nothing to be found out after a crash.
 * Q2. Writes of one namespace that are charged take turns; where somebody else has changed a quota meanwhile, it is read again.
 *     So no two writes can both take what is left for one.
 */
export class QuotaLedger implements Ledger {
  readonly #options: QuotaLedgerOptions;
  readonly #turns = new KeyedTurns();

  constructor(options: QuotaLedgerOptions) {
    this.#options = options;
  }

  /** Resolves with what is stored now, or with undefined where that is impossible or another was faster. */
  async write(write: ChargedWrite): Promise<StoredObject | 'companion changed' | undefined> {
    const { request } = write;
    const { store } = this.#options;
    if (!isCharged(request)) return write.isPossible() ? await store.writeAfter(write.changes) : undefined;
    return await this.#turns.run(request.namespace ?? '', async () => {
      for (let attempt = 0; attempt < TRIES; attempt++) {
        const charges = this.#charges(request);
        if (!write.isPossible()) return undefined;
        const stored = await store.writeAfter([...charges, ...write.changes]);
        if (stored !== 'companion changed') return stored;
      }
      throw conflict({ group: '', resource: QUOTAS }, '', 'they are changed by others faster than by this request');
    });
  }

  /** Throws 403 where a quota does not allow the write. */
  check(request: AdmissionRequest): void {
    if (isCharged(request)) this.#charges(request);
  }

  #charges(request: AdmissionRequest): ObjectChange[] {
    const { store, clock } = this.#options;
    const prefix = `${request.namespace ?? ''}/`;
    const quotas = [...store.cache(QUOTAS).entries(prefix, prefix)];
    const revisions = new Map(quotas.map(([, stored]) => [stored.parse(), stored.revision]));
    return chargeQuotas([...revisions.keys()], request, clock()).map((charge) =>
      this.#changeOf(charge, revisions.get(charge.quota) ?? 0),
    );
  }

  #changeOf({ quota, used }: Charge, expected: number): ObjectChange {
    const { namespace = '', name = '' } = quota.metadata ?? {};
    const status = { ...(quota.status as object | undefined), used };
    const draft: Draft = { ...quota, metadata: { ...quota.metadata }, status };
    const now = formatTime(this.#options.clock());
    trackFields(this.#options.quotas, draft, quota, { manager: 'kube-apiserver', subresource: 'status', now });
    return { type: 'put', groupResource: QUOTAS, namespace, name, expected, object: draft };
  }
}
