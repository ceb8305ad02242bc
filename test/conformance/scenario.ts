import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { rawJson } from './raw-json.ts';

/** Requests and what another API server answered, in the format of recorded scenarios that README.md describes. */
export interface Scenario {
  name: string;
  area: string;
  steps: Step[];
}

export type Step = RequestStep | WatchStep | WaitStep | SleepStep;

export interface RequestStep {
  request: RecordedRequest;
  response: RecordedResponse;
}

export interface WatchStep {
  watch: { path: string; query?: Query; headers?: RequestHeaders; user?: string };
  until: { events?: number; timeoutSeconds?: number };
  during?: (RequestStep | SleepStep)[];
  events: unknown[];
}

export interface WaitStep {
  wait: { request: RecordedRequest; status: number };
}

export interface SleepStep {
  sleep: number;
}

type Query = Record<string, string | string[]>;
/** null: the header is not sent. */
type RequestHeaders = Record<string, string | string[] | null>;

export interface RecordedRequest {
  method: string;
  path: string;
  query?: Query;
  headers?: RequestHeaders;
  /** Default `admin`. */
  user?: string;
  body?: unknown;
  bodyText?: string;
  bodyBase64?: string;
  /** The text before, a unit, how often it is repeated, and the text after. */
  bodyRepeat?: [before: string, unit: string, times: number, after: string];
}

/** At most one of the bodies; none where the answer had none. */
export interface RecordedResponse {
  status: number;
  /** Of these alone: content-type, location, retry-after, etag and warning. */
  headers: Record<string, string | string[]>;
  body?: unknown;
  bodyText?: string;
  bodyBase64?: string;
}

/** What the scenarios of one file are called together, and where they lie. */
export interface ScenarioFile {
  area: string;
  path: string;
}

export function listScenarioFiles(folder: string): ScenarioFile[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith('.jsonl'))
    .sort()
    .map((name) => ({ area: basename(name, '.jsonl'), path: join(folder, name) }));
}

export function readScenarios({ path }: ScenarioFile): Scenario[] {
  return readFileSync(path, 'utf8')
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map(readScenario);
}

function readScenario(line: string): Scenario {
  const scenario = JSON.parse(line) as Scenario;
  if (!/\d\.0\b/.test(line)) return scenario;
  // A body is sent with its numbers as they are written: `3.0` is not `3` to every server.
  const written = JSON.parse(line, keepNumber as (key: string, value: unknown) => unknown) as Scenario;
  for (const [i, step] of scenario.steps.entries()) {
    const other = written.steps[i];
    if ('request' in step && step.request.body !== undefined && other && 'request' in other) {
      step.request.body = other.request.body;
    }
  }
  return scenario;
}

function keepNumber(_: string, value: unknown, { source }: { source?: string }): unknown {
  if (typeof value !== 'number' || source === undefined || source === String(value)) return value;
  return rawJson.rawJSON(source);
}
