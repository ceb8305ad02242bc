import { Duplex } from 'node:stream';
import { WebSocketChannels, WebSocketConnection } from '@asterism/client';
import { type ForwardTarget, forwardOne } from '../port-forward.ts';

/**
 * One connection to each of the ports of the query: channels 2n for data and 2n + 1 for errors, which begin with the port in two
 * bytes, little-endian. It ends when all of them have.
 */
export async function forwardOverChannels(
  transport: Duplex,
  options: ForwardTarget & { ports: readonly number[]; base64: boolean },
): Promise<void> {
  const connection = new WebSocketConnection(transport, { role: 'server' });
  const channels = new WebSocketChannels(connection, { base64: options.base64 });
  const forwards = options.ports.map(async (port, index) => {
    const input = channels.input(index * 2);
    const output = channels.output(index * 2);
    const error = channels.output(index * 2 + 1);
    const announced = Buffer.alloc(2);
    announced.writeUInt16LE(port);
    output.write(announced);
    error.write(announced);
    await forwardOne({ target: options, port, data: Duplex.from({ readable: input, writable: output }), error });
  });
  void Promise.all(forwards).then(() => connection.close());
  await channels.run();
}
