import { type Endpoint, Relay } from './relay.ts';

/** A relay as a process, for a place where the test is not: `relay-process.ts FROM TO`, each an {@link Endpoint} as JSON. */
const [from = '', to = ''] = process.argv.slice(2);
await Relay.listen(JSON.parse(from) as Endpoint, JSON.parse(to) as Endpoint);
process.stdout.write('listening\n');
