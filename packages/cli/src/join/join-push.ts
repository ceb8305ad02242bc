import type { Clock } from '@asterism/client';
import type { Terminal } from '../output/terminal.ts';
import type { JoinFlags } from './join-options.ts';

export async function joinPush(_flags: JoinFlags, _terminal: Terminal, _clock: Clock): Promise<number> {
  return 1;
}
