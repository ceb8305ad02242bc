import { isNotFound, type KubeObject, SECRETS } from '@asterism/machinery';
import type { ControllerOptions } from '../controllers/controller-options.ts';
import { KeyedWork } from '../controllers/keyed-work.ts';
import { unlessChanged } from '../controllers/unless-changed.ts';
import { requireResource } from '../registry/require-resource.ts';
import { dayOf } from './day-of.ts';

/** A label of Secrets that hold tokens: the day of the last use, by which a cleaner finds those that nobody needs. */
const LAST_USED = 'kubernetes.io/legacy-token-last-used';
const DAY_MS = 24 * 60 * 60 * 1000;

/** Notes on Secrets when their tokens were used. */
export interface TokenUseRecorder {
  /** The token of this Secret was used now. At most one write a day, and nobody waits for it. */
  note(secret: KubeObject): void;
}

export function startTokenUseRecorder(options: ControllerOptions): TokenUseRecorder {
  const { registry, user, clock, signal, onError } = options;
  const secrets = requireResource(registry, SECRETS);
  // Tomorrow's, too: of several servers one may be ahead at midnight.
  const isNoted = ({ metadata }: KubeObject): boolean =>
    [clock(), clock() + DAY_MS].map(dayOf).includes(metadata?.labels?.[LAST_USED] ?? '');
  const work = new KeyedWork({
    async work(key) {
      const [namespace = '', name = '', uid] = key.split('/');
      const ref = { namespace, name };
      const stored = await registry.get(secrets, ref).catch((error: unknown) => {
        if (!isNotFound(error)) throw error;
      });
      const secret = stored?.parse();
      if (secret === undefined || secret.metadata?.uid !== uid || isNoted(secret)) return;
      const body = { metadata: { uid, labels: { [LAST_USED]: dayOf(clock()) } } };
      const context = { ...ref, user, fieldManager: 'kube-apiserver' };
      await unlessChanged(() => registry.patch(secrets, ref, { type: 'merge', body }, context));
    },
    onError: (key, error) => onError(`the last use of the token in Secret ${key}`, error),
    signal,
  });
  return {
    note(secret) {
      const { namespace, name, uid } = secret.metadata ?? {};
      if (!isNoted(secret)) work.add(`${namespace}/${name}/${uid}`);
    },
  };
}
