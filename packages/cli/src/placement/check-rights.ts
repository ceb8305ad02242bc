import type { Client } from '@asterism/client';
import { type ImaginedFleet, readRights } from '@asterism/fleet/place';
import { isStatusError } from '@asterism/machinery';
import { describeError } from '../exit-code.ts';
import type { Terminal } from '../output/terminal.ts';

/** The fleet with the rights of its policies' authors. A caller who must not ask for them gets a preview without rights, and is told. */
export async function checkRights(
  hub: Client,
  fleet: ImaginedFleet,
  terminal: Pick<Terminal, 'err'>,
): Promise<ImaginedFleet> {
  try {
    return { ...fleet, rights: await readRights(hub, fleet) };
  } catch (error) {
    if (!isStatusError(error, 'Forbidden')) throw error;
    terminal.err(`rights are not checked, so the hub may refuse what is shown: ${describeError(error)}\n`);
    return fleet;
  }
}
