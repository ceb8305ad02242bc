import { startOwnServer } from '../own-server.ts';
import { rightsUsers } from './identities.ts';

// Our server, with the users of every round, as a process of its own.
await using server = await startOwnServer(rightsUsers());
const { host, port, ca } = server.target;
process.stdout.write(`${JSON.stringify({ host, port, ca })}\n`);
await new Promise<void>((resolve) => process.stdin.on('close', resolve).resume());
