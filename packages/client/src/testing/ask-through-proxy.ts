import { createTransport } from '../http/http-transport.ts';
import { readBody } from '../read-body.ts';

/** A process of its own, for what is read from the environment once: `SERVER PROXY` are asked for `/`, by the system's authorities. */
const [server = '', proxyUrl = ''] = process.argv.slice(2);
await using transport = createTransport({ server, proxyUrl, credential: { kind: 'none' } });
const { body } = await transport.request({ method: 'GET', path: '/' });
process.stdout.write(await readBody(body, server));
