import { readFileSync } from 'node:fs';
import { parseJson } from '@asterism/machinery';
import { describeError, EXIT } from '../exit-code.ts';
import type { Terminal } from '../output/terminal.ts';
import { openSession, type SessionFlags } from '../session.ts';
import { oneLine } from '../output/one-line.ts';

export interface VersionFlags extends SessionFlags {
  client?: boolean;
  output?: 'json';
}

/** The version of this package. */
export function clientVersion(): string {
  const manifest = parseJson(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
    version: string;
  };
  return `v${manifest.version}`;
}

/** `aster version`: of the command and of the hub. A hub that cannot be reached is said so and is no failure with `--client`. */
export async function version(flags: VersionFlags, terminal: Terminal): Promise<number> {
  const found: { client: string; node: string; hub?: string } = { client: clientVersion(), node: process.version };
  let failure: unknown;
  if (!flags.client) {
    try {
      await using session = await openSession(flags, terminal);
      found.hub = (await session.hub.version()).gitVersion;
    } catch (error) {
      failure = error;
    }
  }
  if (flags.output === 'json') terminal.out(`${JSON.stringify(found)}\n`);
  else {
    terminal.out(oneLine(`aster ${found.client} (Node.js ${found.node})`));
    if (found.hub !== undefined) terminal.out(oneLine(`hub   ${found.hub}`));
  }
  if (failure === undefined) return EXIT.fine;
  terminal.err(oneLine(`hub: ${describeError(failure)}`));
  return EXIT.error;
}
