import { listAt, textAt } from '../fields/draft-fields.ts';
import type { Draft } from '../../contract/strategy.ts';
import type { Kind } from '../../contract/kind.ts';

const MOUNTABLE = 'kubernetes.io/enforce-mountable-secrets';

export const serviceAccountKind: Kind = {
  groupResource: 'serviceaccounts',
  strategy: {
    returnsDeleted: true,
    metadataChecks: 4,
    prepareForCreate: namesAlone,
    prepareForUpdate: namesAlone,

    warnings({ metadata }, old) {
      const value = metadata?.annotations?.[MOUNTABLE];
      if (value === undefined || (old && old.metadata?.annotations?.[MOUNTABLE] !== undefined)) return [];
      return [
        `metadata.annotations[${MOUNTABLE}]: deprecated in v1.32+; prefer separate namespaces to isolate access to mounted secrets`,
      ];
    },
  },
};

/** Of references to Secrets only the name counts: they are in the account's namespace. */
function namesAlone(draft: Draft): void {
  const secrets = listAt(draft, 'secrets');
  if (secrets.length === 0) return;
  draft.secrets = secrets.map((secret) => (textAt(secret, 'name') === '' ? {} : { name: textAt(secret, 'name') }));
}
