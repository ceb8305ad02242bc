import type { Client } from '@asterism/client';
import { type ImaginedFleet, readRights } from '@asterism/fleet/place';
import { oneLine } from '../output/one-line.ts';
import type { Terminal } from '../output/terminal.ts';

/** The fleet with the rights of its policies' authors. A caller who cannot find them out gets a preview without rights, and is told. */
export async function checkRights(
  hub: Client,
  fleet: ImaginedFleet,
  terminal: Pick<Terminal, 'err'>,
): Promise<ImaginedFleet> {
  const rights = await readRights(hub, fleet);
  if (!('unknown' in rights)) return { ...fleet, rights };
  terminal.err(oneLine(`rights are not checked, so the hub may refuse what is shown: ${rights.unknown}`));
  return fleet;
}
