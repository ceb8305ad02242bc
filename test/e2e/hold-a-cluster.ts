// A test process that will be killed: starts a lab, a control plane and a real node in it, says so, and stays.
import { ControlPlane } from '../cluster/control-plane.ts';
import { Lab } from '../cluster/lab.ts';
import { RealNode } from '../cluster/real-node.ts';
import { RunFolder } from '../cluster/run-folder.ts';

const run = await RunFolder.open();
const lab = await Lab.start(run, 'held');
const controlPlane = await ControlPlane.start(run, { name: 'held', lab, scheduler: true });
await RealNode.start({ run, lab, controlPlane, name: 'held-0', place: 0 });
process.stdout.write(`${run.path}\n`);
setInterval(() => {}, 60_000);
