import { startOwnServer } from './own-server.ts';

// Our server as a process of its own: says on stdout where it listens, and ends with its stdin.
await using server = await startOwnServer();
const { host, port, ca } = server.target;
process.stdout.write(`${JSON.stringify({ host, port, ca })}\n`);
await new Promise<void>((resolve) => process.stdin.on('close', resolve).resume());
