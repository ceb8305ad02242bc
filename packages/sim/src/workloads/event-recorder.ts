import type { Client, Clock } from '@asterism/client';
import { type Event, EVENTS, formatTime, isAlreadyExists, type KubeObject } from '@asterism/machinery';
import { EventCorrelator } from './event-correlator.ts';
import { stableSuffix } from './stable-suffix.ts';

/** What a controller tells those who look: `kubectl describe` and `kubectl get events` show it. */
export interface EventRecorder {
  /** Never waits and never fails: an event that cannot be written is missing. */
  record(object: KubeObject, type: 'Normal' | 'Warning', reason: string, message: string, where?: EventPlace): void;
}

/** Where something happened: the part of the object, and the machine that tells of it. */
export interface EventPlace {
  fieldPath?: string | undefined;
  host?: string | undefined;
}

/**
 * Writes Events one after another; the same one again counts up, similar ones of one object become one, and what is too many of it
 * is dropped, as client-go does. Beyond `MOST_WAITING` all are.
 */
export function createEventRecorder(client: Client, component: string, clock: Clock): EventRecorder {
  let waiting = 0;
  let last: Promise<void> = Promise.resolve();
  const correlator = new EventCorrelator(clock);
  return {
    record(object, type, reason, message, where = {}) {
      if (waiting >= MOST_WAITING) return;
      const about = `${object.metadata?.uid}/${where.host ?? ''}`;
      const similar = correlator.correlate(about, `${type}/${reason}`, message);
      if (!similar) return;
      waiting += 1;
      const event = eventOf(object, {
        type,
        reason,
        component,
        where,
        now: formatTime(clock.wall().getTime()),
        ...similar,
      });
      last = last
        .then(() => write(client, event))
        .catch(() => undefined)
        .finally(() => {
          waiting -= 1;
        });
    },
  };
}

const MOST_WAITING = 1000;

interface Said {
  type: string;
  reason: string;
  message: string;
  /** What tells it from others of the same object and reason. */
  sign: string;
  component: string;
  where: EventPlace;
  now: string;
}

function eventOf({ apiVersion, kind, metadata }: KubeObject, { now, component, where, sign, ...said }: Said): Event {
  const { name = '', namespace = 'default', uid = '', resourceVersion } = metadata ?? {};
  return {
    apiVersion: 'v1',
    kind: 'Event',
    metadata: {
      namespace,
      name: `${name}.${stableSuffix(`${uid}/${said.reason}/${sign}/${where.fieldPath ?? ''}`, 16)}`,
    },
    involvedObject: {
      ...(apiVersion ? { apiVersion } : {}),
      ...(kind ? { kind } : {}),
      ...(resourceVersion ? { resourceVersion } : {}),
      ...(where.fieldPath ? { fieldPath: where.fieldPath } : {}),
      name,
      namespace,
      uid,
    },
    ...said,
    count: 1,
    firstTimestamp: now,
    lastTimestamp: now,
    source: where.host ? { component, host: where.host } : { component },
    reportingComponent: component,
    reportingInstance: where.host ?? '',
  };
}

async function write(client: Client, event: Event): Promise<void> {
  const events = client.resource(EVENTS);
  try {
    await events.create(event);
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
    const ref = { namespace: event.metadata.namespace, name: event.metadata.name ?? '' };
    const { count = 1 } = await events.get(ref);
    const body = { count: count + 1, lastTimestamp: event.lastTimestamp, message: event.message };
    await events.patch(ref, { type: 'merge', body });
  }
}
