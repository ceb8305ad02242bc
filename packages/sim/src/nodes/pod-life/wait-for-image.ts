import type { ContainerLife } from './container-life.ts';
import { imageFault } from './image-rule.ts';

const FAULT_SHOWN_MS = 2000;
const NEVER_MS = 3_600_000;

/** Tells of a fault, as events of the container. */
type Say = (type: 'Normal' | 'Warning', reason: string, message: string) => void;

/**
 * Says of a container whose image cannot be had that it waits for it: in how many ms it is tried for again. Undefined for an
 * image that is there.
 */
export function waitForImage(life: ContainerLife, now: number, say: Say): number | undefined {
  const { image = '' } = life.spec;
  const fault = imageFault(image);
  if (!fault) return undefined;
  const before = life.state.waiting?.reason;
  if (fault.reason === 'InvalidImageName') {
    if (before !== fault.reason) {
      say('Warning', 'InspectFailed', fault.message);
      say('Warning', 'Failed', `Error: ${fault.reason}`);
    }
    life.wait(fault.reason, fault.message);
    return NEVER_MS;
  }
  if (life.pullsAt !== undefined && life.pullsAt > now) {
    if (before !== 'ImagePullBackOff') {
      say('Normal', 'BackOff', `Back-off pulling image "${image}"`);
      say('Warning', 'Failed', 'Error: ImagePullBackOff');
    }
    life.wait('ImagePullBackOff', `Back-off pulling image "${image}": ${fault.reason}: ${fault.message}`);
    return life.pullsAt - now;
  }
  life.pullFailed();
  say('Normal', 'Pulling', `Pulling image "${image}"`);
  say('Warning', 'Failed', `Failed to pull image "${image}": ${fault.message}`);
  say('Warning', 'Failed', `Error: ${fault.reason}`);
  life.wait(fault.reason, fault.message);
  return FAULT_SHOWN_MS;
}
