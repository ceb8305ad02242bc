import type { EventEvents } from '@asterism/machinery';
import { SpamFilter } from './spam-filter.ts';

/** Of one object, with the same type, reason, action and reporter, so many notes are told apart in this time. */
const MAX_NOTES = 10;
const NOTES_MS = 600_000;
/** How often a series that goes on is written: far more often than a server forgets events (1 h). */
const REFRESH_MS = 300_000;
/** After how long without another a series is over. */
const FINISH_MS = 360_000;
/** Series, and groups of notes, that are remembered. */
const MAX_REMEMBERED = 4_096;
const COMBINED = '(combined from similar events): ';
const MAX_NOTE_BYTES = 1_024;

/** An event that was told once or more often. */
export interface EventSeries {
  readonly key: string;
  /** As it was written the first time; its name is the series'. */
  event: EventEvents;
  /** How often it was observed, and when last: by the wall clock for the server, and by the monotonic clock for what is due. */
  count: number;
  lastObservedTime: Date;
  lastObserved: number;
  /** How much of that the server was told; 0: nothing. */
  written: number;
  writtenAt: number;
}

interface Notes {
  since: number;
  seen: Set<string>;
}

/**
 * Makes few writes of many events.
 *
 * A1 The same again is no event of its own but counts in the series of the first. The regarded object's resourceVersion does not
 *    make a difference, its uid does.
 * A2 From the eleventh different note on, in ten minutes, events that are the same but for it are one series, "combined".
 * A3 New series of an object are limited, 25 at once and then one in 5 min; what is over that is dropped.
 * A4 The first repetition is written at once, a series that goes on every 5 min, and the last time 6 min after its end; then it is
 *    forgotten.
 */
export class EventCorrelator {
  readonly #series = new Map<string, EventSeries>();
  readonly #notes = new Map<string, Notes>();
  readonly #spam = new SpamFilter();
  readonly #wall: () => Date;

  constructor(wall: () => Date) {
    this.#wall = wall;
  }

  get size(): number {
    return this.#series.size;
  }

  /**
   * Counts an event. `now` is in ms of the monotonic clock.
   *
   * @returns the series to write now; nothing where that has time, or where the event was dropped.
   */
  observe(event: EventEvents, now: number): EventSeries | 'later' | 'dropped' {
    const similar = groupKey(event);
    const note = this.#combines(similar, event.note ?? '', now)
      ? { key: `${similar}\0${COMBINED}`, note: cutToBytes(COMBINED + event.note, MAX_NOTE_BYTES) }
      : { key: `${similar}\0${event.note}`, note: event.note };
    const known = this.#series.get(note.key);
    if (known) {
      known.count++;
      known.lastObserved = now;
      known.lastObservedTime = this.#wall();
      this.#remember(known);
      return known.count === 2 && known.written === 1 ? known : 'later';
    }
    if (!this.#spam.passes(JSON.stringify(regardedObject(event)), now)) return 'dropped';
    const begun = { ...event, ...(note.note === undefined ? {} : { note: note.note }) };
    const times = { lastObservedTime: this.#wall(), lastObserved: now, writtenAt: now };
    const series = { key: note.key, event: begun, count: 1, written: 0, ...times };
    this.#remember(series);
    return series;
  }

  /** The series that are due to be written. Forgets what is over. */
  due(now: number): EventSeries[] {
    const due = [...this.#series.values()].filter(({ count, written, writtenAt, lastObserved }) => {
      return count > written && (now - writtenAt >= REFRESH_MS || now - lastObserved >= FINISH_MS);
    });
    for (const { key, count, written, lastObserved } of this.#series.values()) {
      if (count <= written && now - lastObserved >= FINISH_MS) this.#series.delete(key);
    }
    for (const [key, { since }] of this.#notes) if (now - since >= NOTES_MS) this.#notes.delete(key);
    this.#spam.forgetFull(now);
    return due;
  }

  /** Every series of which the server was not told all. */
  unwritten(): EventSeries[] {
    return [...this.#series.values()].filter(({ count, written }) => count > written);
  }

  /** The server does not take it: it begins anew when it comes again. */
  forget({ key }: EventSeries): void {
    this.#series.delete(key);
  }

  #combines(similar: string, note: string, now: number): boolean {
    const present = this.#notes.get(similar);
    const notes = present && now - present.since < NOTES_MS ? present : { since: now, seen: new Set<string>() };
    this.#notes.delete(similar);
    this.#notes.set(similar, notes);
    dropOldest(this.#notes);
    if (notes.seen.has(note)) return false;
    if (notes.seen.size >= MAX_NOTES) return true;
    notes.seen.add(note);
    return false;
  }

  /** The last one used is the last to be forgotten. */
  #remember(series: EventSeries): void {
    this.#series.delete(series.key);
    this.#series.set(series.key, series);
    dropOldest(this.#series);
  }
}

function dropOldest(map: Map<string, unknown>): void {
  if (map.size <= MAX_REMEMBERED) return;
  const [oldest] = map.keys();
  if (oldest !== undefined) map.delete(oldest);
}

/** All that makes two events the same but their notes. */
function groupKey(event: EventEvents): string {
  const { type, action, reason, reportingController, reportingInstance, related } = event;
  const { resourceVersion: _, ...relatedObject } = related ?? {};
  const regarding = regardedObject(event);
  return JSON.stringify([type, action, reason, reportingController, reportingInstance, regarding, relatedObject]);
}

function regardedObject({ regarding }: EventEvents): object {
  const { resourceVersion: _, ...object } = regarding ?? {};
  return object;
}

/** The text, or as many whole characters of it as fit. */
export function cutToBytes(text: string, bytes: number): string {
  const all = Buffer.from(text);
  if (all.length <= bytes) return text;
  let end = bytes;
  while (end > 0 && ((all[end] ?? 0) & 0xc0) === 0x80) end--; // within a character of UTF-8
  return all.subarray(0, end).toString();
}
