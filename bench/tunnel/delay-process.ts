// A process behind way.ts: a line on which every byte takes a while, in each direction, and as many as like are on their way.
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

process.on('SIGINT', () => {}); // The parent decides.
process.on('disconnect', () => process.exit(0));

const [port = 0, delayMs = 0] = process.argv.slice(2).map(Number);

function pass(from: Socket, to: Socket): void {
  const waiting: { at: number; chunk: Buffer | undefined }[] = [];
  let timer: NodeJS.Timeout | undefined;
  const send = (): void => {
    timer = undefined;
    const now = performance.now();
    while (waiting[0] && waiting[0].at <= now) {
      const { chunk } = waiting.shift() as (typeof waiting)[number];
      if (chunk) to.write(chunk);
      else to.end();
    }
    if (waiting[0]) timer = setTimeout(send, Math.max(0, waiting[0].at - performance.now()));
  };
  const take = (chunk: Buffer | undefined): void => {
    waiting.push({ at: performance.now() + delayMs, chunk });
    timer ??= setTimeout(send, delayMs);
  };
  from.on('data', take);
  from.on('end', () => take(undefined));
  from.on('error', () => {});
  from.on('close', () => to.destroy());
}

const server = createServer({ allowHalfOpen: true, noDelay: true }, (near) => {
  const far = connect({ port, host: '127.0.0.1', allowHalfOpen: true, noDelay: true });
  pass(near, far);
  pass(far, near);
});
server.listen(0, '127.0.0.1', () => process.send?.({ port: (server.address() as AddressInfo).port }));
