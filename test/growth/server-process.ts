// A server in a process of its own. It says where it listens, and for how long its thread was held since it was last asked.
import { startTestServer } from '@asterism/apiserver/testing';
import { customResourceDefinitions } from '@asterism/fleet/api';
import { STATUS_CHECKS } from '@asterism/fleet/join';
import { POLICY_CHECKS } from '@asterism/fleet/place';
import { GROWN_DEFINITION } from './grown-definition.ts';
import { HoldMeter, measureSlowness } from './hold-meter.ts';

const server = await startTestServer({
  crds: [GROWN_DEFINITION, ...(await customResourceDefinitions())],
  checks: [...POLICY_CHECKS, ...STATUS_CHECKS],
  logger: { debug() {}, info() {}, warn() {}, error() {} },
});
const token = server.tokenFor({ username: 'grower', groups: ['system:masters'] });
const slowness = measureSlowness();
const meter = new HoldMeter();
process.send?.({ url: server.url, ca: server.ca.cert, token, slowness });
process.on('message', () => process.send?.(meter.take()));
process.on('disconnect', () => process.exit());
