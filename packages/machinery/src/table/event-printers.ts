import type { Event, EventSource } from '../generated/core-v1.ts';
import type { EventEvents } from '../generated/events-v1.ts';
import { translateTimestampSince } from './format-age.ts';
import { NAME, type TablePrinter, defineSummarizingPrinter, text, wide } from './table-printer.ts';

/** What both APIs for events say, in the words of the older. */
interface Occurrence {
  type?: string | undefined;
  reason?: string | undefined;
  message: string;
  object: { kind?: string; name?: string; fieldPath?: string };
  source: EventSource;
  first: string | undefined;
  last: string | undefined;
  count: number;
}

export const EVENT_PRINTER: TablePrinter = eventPrinter<Event>((event) => {
  const { involvedObject, source, series, reportingComponent, reportingInstance } = event;
  const first = event.firstTimestamp ?? event.eventTime;
  return {
    type: event.type,
    reason: event.reason,
    message: event.message ?? '',
    object: involvedObject ?? {},
    source: { component: source?.component || reportingComponent, host: source?.host || reportingInstance },
    first,
    last: series ? series.lastObservedTime : (event.lastTimestamp ?? first),
    count: series ? (series.count ?? 0) : event.count || 1,
  };
});

export const EVENTS_EVENT_PRINTER: TablePrinter = eventPrinter<EventEvents>((event) => {
  const { regarding, deprecatedSource, series, reportingController, reportingInstance } = event;
  const first = event.deprecatedFirstTimestamp ?? event.eventTime;
  return {
    type: event.type,
    reason: event.reason,
    message: event.note ?? '',
    object: regarding ?? {},
    source: {
      component: deprecatedSource?.component || reportingController,
      host: deprecatedSource?.host || reportingInstance,
    },
    first,
    last: series ? series.lastObservedTime : (event.deprecatedLastTimestamp ?? first),
    count: series ? (series.count ?? 0) : event.deprecatedCount || 1,
  };
});

function eventPrinter<T extends Event | EventEvents>(read: (event: T) => Occurrence): TablePrinter {
  return defineSummarizingPrinter<T, Occurrence>(read, [
    text('Last Seen', (_, now, { last }) => translateTimestampSince(last, now)),
    text('Type', (_, __, { type }) => type ?? ''),
    text('Reason', (_, __, { reason }) => reason ?? ''),
    text('Object', (_, __, occurrence) => objectText(occurrence)),
    ...wide<T, Occurrence>(
      text('Subobject', (_, __, { object }) => object.fieldPath ?? ''),
      text('Source', (_, __, occurrence) => sourceText(occurrence)),
    ),
    text('Message', (_, __, { message }) => message.trim()),
    ...wide<T, Occurrence>(
      text('First Seen', (_, now, { first }) => translateTimestampSince(first, now)),
      text('Count', (_, __, { count }) => count),
      NAME,
    ),
  ]);
}

function objectText({ object: { kind = '', name } }: Occurrence): string {
  return name ? `${kind.toLowerCase()}/${name}` : kind.toLowerCase();
}

function sourceText({ source: { component = '', host } }: Occurrence): string {
  return host ? `${component}, ${host}` : component;
}
