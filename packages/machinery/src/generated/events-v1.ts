// Generated from data/kubernetes-1.36.json (v1.36.2) by generator/main.ts: do not edit, run `npm run generate`.
import type { ObjectMeta } from '../object.ts';
import type { EventSource, ObjectReference } from './core-v1.ts';

export type EventEvents = {
  action?: string;
  apiVersion?: string;
  deprecatedCount?: number;
  deprecatedFirstTimestamp?: string;
  deprecatedLastTimestamp?: string;
  deprecatedSource?: EventSource;
  eventTime: string;
  kind?: string;
  metadata?: ObjectMeta;
  note?: string;
  reason?: string;
  regarding?: ObjectReference;
  related?: ObjectReference;
  reportingController?: string;
  reportingInstance?: string;
  series?: EventSeriesEvents;
  type?: string;
};

export interface EventSeriesEvents {
  count: number;
  lastObservedTime: string;
}
