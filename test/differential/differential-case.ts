import type { RecordedRequest } from '../conformance/scenario.ts';
import type { FieldChange } from './objects/generated-kind.ts';

/** What cases are about; fifty combinations have to cover each. */
export const SUBJECTS = ['kinds', 'custom resources', 'verbs', 'discovery', 'storage', 'access', 'admission'] as const;
export type Subject = (typeof SUBJECTS)[number];

/** Requests that are sent to both servers, one after the other, and whose answers are compared. */
export interface DifferentialCase {
  /** Unique, a DNS label: the case's own namespace has this name, and so begin the names of its cluster-scoped objects. */
  name: string;
  subject: Subject;
  /** `verb Kind: feature`, what it shows; counted over all cases of the subject. */
  combinations: readonly string[];
  steps: readonly DifferentialStep[];
}

/** `{{steps.N.body.…}}` in a request is what the asked server itself answered in step N. */
export type DifferentialStep = RequestStep | TogetherStep | WatchStep | UntilStep;

export interface RequestStep {
  request: RecordedRequest;
  /** The body is what step `step` answered, with the change made. */
  replaces?: { step: number; change: FieldChange };
  /** What 1.36 answers where 1.20 answers otherwise: this is then what counts, and 1.20's answer does not. */
  since?: NewerAnswer;
}

/** An answer that Kubernetes 1.20 cannot give. */
export interface NewerAnswer {
  because: string;
  status: number;
  /** Must be found in the body: of objects the named fields, of lists the named first items, of strings all. */
  body?: unknown;
}

/** Requests sent at the same moment. Which one wins is open: their statuses and reasons are compared as a sorted list. */
export interface TogetherStep {
  together: readonly RecordedRequest[];
}

/**
 * Watches that are opened, and requests made while they are open. Each watch is read until the event of type `ADDED` for the
 * object named {@link SENTINEL}, which the last of the requests has to create, or until the server ends it.
 */
export interface WatchStep {
  watches: readonly { path: string; query: Record<string, string>; headers?: Record<string, string> }[];
  during: readonly RecordedRequest[];
  /** As {@link RequestStep.since}: what the first watch's events must be, in order. */
  since?: { because: string; events: readonly unknown[] };
}

/** The request is repeated until it is answered so; nothing is compared. */
export interface UntilStep {
  until: { request: RecordedRequest; status: number; body?: unknown };
}

export const SENTINEL = 'zz-sentinel';
