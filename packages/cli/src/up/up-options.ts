import { homedir } from 'node:os';
import { join } from 'node:path';
import { CommandError, EXIT } from '../exit-code.ts';
import { parseListen } from '../service/listen-address.ts';
import { parseDataDir } from '../service/parse-data-dir.ts';

/** The flags of `aster up`, as they were typed. */
export interface UpFlags {
  dataDir?: string;
  listen?: string;
  members?: string;
  demo?: boolean;
  searchStore?: string;
}

export interface UpOptions {
  dataDir: string;
  listen: { host: string; port: number };
  members: number;
  demo: boolean;
}

/** More would fit, but each is an API server with nodes: a person who wants a hundred wants a machine for them. */
const MOST_MEMBERS = 50;

export function parseUpOptions(flags: UpFlags): UpOptions {
  if (flags.searchStore !== undefined && flags.searchStore !== 'sqlite') {
    throw new CommandError(
      `--search-store: ${JSON.stringify(withoutPassword(flags.searchStore))} is not a store that this release has: it is sqlite, in the data dir`,
      EXIT.usage,
    );
  }
  const members = Number(flags.members ?? 3);
  if (!Number.isInteger(members) || members < 0 || members > MOST_MEMBERS) {
    throw new CommandError(
      `--members: ${JSON.stringify(flags.members)} is not a number from 0 to ${MOST_MEMBERS}`,
      EXIT.usage,
    );
  }
  if (flags.demo && members < 2) {
    throw new CommandError(`--demo places over two members: ${members} are too few`, EXIT.usage);
  }
  return {
    dataDir: parseDataDir(flags.dataDir, join(homedir(), '.asterism')),
    listen: parseListen(flags.listen ?? '127.0.0.1:7443'),
    members,
    demo: flags.demo === true,
  };
}

function withoutPassword(url: string): string {
  return url.replace(/\/\/[^@/]*@/, '//…@');
}
