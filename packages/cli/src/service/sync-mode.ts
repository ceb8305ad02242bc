import type { AgentOptions } from '@asterism/agent';
import { CommandError, EXIT } from '../exit-code.ts';

export type SyncMode = AgentOptions['syncMode'];

const MODES: Record<string, SyncMode> = { push: 'Push', pull: 'Pull', dual: 'Dual' };

/** As they are typed; in any case. */
export const SYNC_MODES: readonly string[] = Object.keys(MODES);

/** `push`, `Pull`, `DUAL`, … as the API writes it. Throws as wrong usage of `--mode`. */
export function parseSyncMode(text: string): SyncMode {
  const key = text.toLowerCase();
  const mode = Object.hasOwn(MODES, key) ? MODES[key] : undefined;
  if (mode) return mode;
  throw new CommandError(`--mode: ${JSON.stringify(text)} is not ${SYNC_MODES.join(', ')}`, EXIT.usage);
}
