import type { ObjectStore } from '../../storage/object-store.ts';
import type { Quotas } from '../../registry/commit-write.ts';
import type { QuotaLedger, QuotaLedgerOptions } from './quota-ledger.ts';

/** Where there is no quota, its ledger is not even read in. */
export class QuotaGate implements Quotas {
  readonly #store: ObjectStore;
  readonly #open: () => Promise<QuotaLedger>;
  #ledger: Promise<QuotaLedger> | undefined;

  constructor(options: QuotaLedgerOptions) {
    this.#store = options.store;
    this.#open = async () => new (await import('./quota-ledger.ts')).QuotaLedger(options);
  }

  /** Undefined where no quota bounds the namespace. */
  ledgerFor(namespace: string | undefined): Promise<QuotaLedger> | undefined {
    const quotas = this.#store.cache('resourcequotas');
    if (quotas.size === 0 || !namespace) return undefined;
    const prefix = `${namespace}/`;
    if (quotas.entries(prefix, prefix).next().done) return undefined;
    return (this.#ledger ??= this.#open());
  }
}
