// A process behind way.ts: the hub of the baseline. Each connection of a client takes one that the agent dialled before, byte for byte.
import type { AddressInfo } from 'node:net';
import { createServer, type Server, type TLSSocket } from 'node:tls';
import { SERVER_CERT, SERVER_KEY } from '../../packages/client/src/testing/certificates.ts';

process.on('SIGINT', () => {}); // The parent decides.
process.on('disconnect', () => process.exit(0));

const TLS = { cert: SERVER_CERT, key: SERVER_KEY, minVersion: 'TLSv1.3', allowHalfOpen: true } as const;
const idle: TLSSocket[] = [];
const waiting: TLSSocket[] = [];

function join(client: TLSSocket, agent: TLSSocket): void {
  for (const [one, other] of [
    [client, agent],
    [agent, client],
  ] as const) {
    one.on('close', () => other.destroy());
    one.pipe(other);
  }
}

const front = createServer(TLS, (client) => {
  client.setNoDelay(true).on('error', () => {});
  const agent = idle.shift();
  if (agent) join(client, agent);
  else waiting.push(client);
});
const agents = createServer(TLS, (agent) => {
  agent.setNoDelay(true).on('error', () => {});
  const client = waiting.shift();
  if (client) join(client, agent);
  else idle.push(agent);
});

const listening = (server: Server): Promise<number> =>
  new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port));
  });
process.send?.({ front: await listening(front), agents: await listening(agents) });
