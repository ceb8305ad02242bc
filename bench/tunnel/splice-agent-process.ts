// A process behind way.ts: the agent of the baseline. Keeps connections to the hub; one that gets a byte gets one to the target.
import { connect } from 'node:tls';
import { AUTHORITY } from '../../packages/client/src/testing/certificates.ts';

process.on('SIGINT', () => {}); // The parent decides.
process.on('disconnect', () => process.exit(0));

const [hub = 0, target = 0, count = 0] = process.argv.slice(2).map(Number);
const TO = { host: '127.0.0.1', ca: AUTHORITY, minVersion: 'TLSv1.3', allowHalfOpen: true } as const;
let ready = 0;

function keep(): void {
  const near = connect({ ...TO, port: hub });
  near.setNoDelay(true).on('error', () => {});
  near.once('secureConnect', () => {
    ready += 1;
    if (ready === count) process.send?.({});
  });
  near.once('readable', () => {
    keep();
    const far = connect({ ...TO, port: target });
    far.setNoDelay(true).on('error', () => {});
    near.on('close', () => far.destroy());
    far.on('close', () => near.destroy());
    near.pipe(far);
    far.pipe(near);
  });
}
for (let i = 0; i < count; i++) keep();
