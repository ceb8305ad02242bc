import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { realBinary } from '../harness/real-binary.ts';
import { benchDeployment, type Spread } from './bench-deployment.ts';
import type { FleetUnderTest, Member } from './fleet-under-test.ts';

/** Milliseconds from before the call until the last of `members` shows the object on its own address. */
async function untilStanding(name: string, members: readonly Member[], apply: () => Promise<unknown>): Promise<number> {
  const started = performance.now();
  await apply();
  const seen = await Promise.all(members.map((member) => member.seen.standing(name)));
  return Math.max(...seen) - started;
}

/** Applied at the hub by a client that is connected; then waits until all is ready and told, so that the next meets an idle hub. */
export async function throughTheHub(fleet: FleetUnderTest): Promise<number> {
  const name = fleet.newName();
  const deployment = benchDeployment(name, 'all');
  const ms = await untilStanding(name, fleet.members, () => fleet.apply(fleet.hub, deployment));
  await fleet.hubSeen.ready(name, fleet.members.length);
  return ms;
}

/** The same objects applied by the same client at every member itself, all at once. */
export async function byHand(fleet: FleetUnderTest): Promise<number> {
  const name = fleet.newName();
  const deployment = benchDeployment(name, 'all');
  const ms = await untilStanding(name, fleet.members, () =>
    Promise.all(fleet.members.map(({ client }) => fleet.apply(client, deployment))),
  );
  await Promise.all(fleet.members.map(({ seen }) => seen.ready(name, 1)));
  return ms;
}

/** `kubectl apply`, from its start until the object stands in every member. */
export async function kubectlThroughTheHub(fleet: FleetUnderTest): Promise<number> {
  const name = fleet.newName();
  const ms = await untilStanding(name, fleet.members, () => kubectlApply(fleet.kubeconfig, name, 'all'));
  await fleet.hubSeen.ready(name, fleet.members.length);
  return ms;
}

/**
 * `kubectl apply` at the hub of an object that no policy takes, until its answer: what kubectl itself and the hub's API
 * server take, whatever the fleet does.
 */
export async function kubectlAlone(fleet: FleetUnderTest): Promise<number> {
  const started = performance.now();
  await kubectlApply(fleet.kubeconfig, fleet.newName(), 'nowhere');
  return performance.now() - started;
}

async function kubectlApply(kubeconfig: string, name: string, spread: Spread | 'nowhere'): Promise<void> {
  const child = spawn(realBinary('kubectl'), ['--kubeconfig', kubeconfig, 'apply', '-f', '-'], {
    stdio: ['pipe', 'ignore', 'pipe'],
    // Its discovery cache lies beside the kubeconfig, which is temporary.
    env: { ...process.env, HOME: `${kubeconfig}.home`, KUBECTL_KUBERC: 'false' },
  });
  let printed = '';
  child.stderr.on('data', (text) => (printed += String(text)));
  child.stdin.end(JSON.stringify(benchDeployment(name, spread)));
  const [code] = (await once(child, 'close')) as [number | null];
  if (code !== 0) throw new Error(`kubectl apply ended with ${code}: ${printed}`);
}
