import { hasFailed } from '../interpret/has-failed.ts';
import type { Health } from '../interpret/health.ts';
import type { Status } from '../interpret/status-fields.ts';

/** How one object stands in one cluster. */
export interface Standing {
  applied: boolean;
  health?: Health | undefined;
  status?: Status | undefined;
  /** Why it is not applied. */
  message?: string | undefined;
}

/** What was told of an object, and what there is to tell now. */
export interface News {
  told: Standing | undefined;
  now: Standing;
  /** It was asked to change since `told`, so that it does less than it did is no surprise. */
  changing: boolean;
}

/**
 * Whether news may be gathered for longer, because more will follow: a rollout is told once or twice rather than at each of its
 * steps. What is final does not wait (W1), nor does a failure that was not told yet (W2), nor that something works no more which
 * nobody asked to change (W3).
 */
export function mayWait(news: readonly News[]): boolean {
  return news.some(({ now }) => isUnderWay(now)) && !news.some(isUrgent);
}

/** Applied, and on its way to what it is for. */
function isUnderWay(standing: Standing): boolean {
  return !isFailed(standing) && standing.health !== undefined && standing.health !== 'Healthy';
}

function isFailed({ applied, status }: Standing): boolean {
  return !applied || hasFailed(status);
}

function isUrgent({ told, now, changing }: News): boolean {
  if (isFailed(now)) return told === undefined || !isFailed(told) || told.message !== now.message;
  return !changing && told?.health === 'Healthy' && now.health === 'Unhealthy';
}
