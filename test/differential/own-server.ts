import { Agent } from 'node:https';
import { startTestServer } from '@asterism/apiserver/testing';
import type { ComparedServer } from './real-server.ts';
import { type ComparedUser, SERVICE_RANGE, USERS } from './settings.ts';

/** Our server with the settings of both, in this process. */
export async function startOwnServer(users: readonly ComparedUser[] = USERS): Promise<ComparedServer> {
  const server = await startTestServer({
    admissionPlugins: { disable: ['ServiceAccount'] },
    controllers: false,
    staticTokens: users.map((user) => ({ ...user, groups: [...user.groups] })),
    serviceAddressRange: SERVICE_RANGE,
  });
  const { hostname, port } = new URL(server.url);
  const agent = new Agent({ keepAlive: true });
  return {
    target: { host: hostname, port: Number(port), ca: server.ca.cert, agent },
    async [Symbol.asyncDispose]() {
      agent.destroy();
      await server.stop();
    },
  };
}
