import type { Socket } from 'node:net';
import { pipeline } from 'node:stream/promises';
import { ClientError, openPortForward, type PortForward } from '@asterism/client';
import { CommandError, EXIT } from '../exit-code.ts';
import type { Terminal } from '../output/terminal.ts';
import { listenLocally, type LocalListener } from '../reach/listen-locally.ts';
import { type Located, locate, type LocateFlags } from '../reach/locate.ts';
import { parsePortPair, remotePort } from '../reach/ports.ts';
import { parseTarget } from '../reach/target.ts';
import { openSession } from '../session.ts';
import { oneLine } from '../output/one-line.ts';

export interface PortForwardFlags extends LocateFlags {
  address: string;
}

/** `aster port-forward`: local ports that lead to those of a pod, wherever in the fleet that is, until it is told to stop. */
export async function portForward(
  word: string,
  words: readonly string[],
  flags: PortForwardFlags,
  { terminal, stopSignal }: { terminal: Terminal; stopSignal: () => AbortSignal },
): Promise<number> {
  const target = parseTarget(word);
  const pairs = words.map(parsePortPair);
  const addresses = flags.address.split(',').map((address) => address.trim());
  const note = (line: string): void => terminal.err(oneLine(`${line}`));
  await using session = await openSession(flags, terminal);
  const found = await locate(session, target, flags, { order: 'active', note });
  const ports = pairs.map(({ local, remote }) => ({ local, remote: remotePort(target, found, remote) }));
  const [pod] = found.pods;
  requireRunning(found);
  const name = pod.metadata?.name ?? '';
  const signal = stopSignal();
  await using forward = await openPortForward(found.client, { namespace: session.namespace, pod: name, signal });
  await using listeners = new Listeners();
  for (const { local, remote } of ports) {
    const serve = (socket: Socket): void => void carry(forward, { socket, remote, terminal });
    const opened = await listenLocally(addresses, local, (socket) => {
      listeners.sockets.add(socket);
      socket.once('close', () => listeners.sockets.delete(socket));
      serve(socket);
    });
    listeners.all.push(...opened);
    for (const { address, port } of opened) {
      const shown = address.includes(':') ? `[${address}]` : address;
      terminal.out(oneLine(`Forwarding from ${shown}:${port} -> ${remote}`));
    }
  }
  await forward.gone;
  if (signal.aborted) return EXIT.fine;
  throw new CommandError(`lost the connection to pod ${name} in ${found.cluster}`);
}

function requireRunning({ cluster, pods: [pod] }: Located): void {
  const phase = pod.status?.phase;
  if (phase === 'Running') return;
  throw new CommandError(`pod ${pod.metadata?.name} in ${cluster} does not run (${phase ?? 'Unknown'})`);
}

/** What is open here. */
class Listeners implements AsyncDisposable {
  readonly all: LocalListener[] = [];
  readonly sockets = new Set<Socket>();

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    await Promise.all(this.all.map(({ server }) => new Promise((resolve) => server.close(resolve))));
  }
}

/** One connection, to its end. What goes wrong with it is told and concerns no other. */
async function carry(
  forward: PortForward,
  { socket, remote, terminal }: { socket: Socket; remote: number; terminal: Terminal },
): Promise<void> {
  const { localPort } = socket;
  terminal.out(oneLine(`Handling connection for ${localPort}`));
  const { data, failure } = forward.connect(remote);
  const both = await Promise.allSettled([pipeline(socket, data), pipeline(data, socket)]);
  const said = await failure;
  const lost = both.flatMap((one) =>
    one.status === 'rejected' && one.reason instanceof ClientError ? [one.reason] : [],
  );
  const [reason] = said ? [said] : lost;
  if (reason) terminal.err(oneLine(`${localPort} -> ${remote}: ${reason.message}`));
  socket.destroy();
  data.destroy();
}
