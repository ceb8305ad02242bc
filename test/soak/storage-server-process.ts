// An API server on the database of its first argument, for the soak test to kill. Tells its parent how it is reached.
import { createSqliteStorage } from '@asterism/apiserver';
import { startTestServer } from '@asterism/apiserver/testing';

const server = await startTestServer({ storage: createSqliteStorage({ file: process.argv[2] ?? '' }) });
process.on('disconnect', () => process.exit(0));
process.send?.(server.connection);
