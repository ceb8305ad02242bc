import type { Client } from '@asterism/client';
import { type ImaginedFleet, readRights } from '@asterism/fleet/place';
import { oneLine } from '../output/one-line.ts';
import type { Terminal } from '../output/terminal.ts';

/** Adds the rights of policies' authors to the fleet. If the caller cannot read them, the preview goes without, and stderr says so. */
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
