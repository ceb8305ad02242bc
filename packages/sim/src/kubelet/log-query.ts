import { failure, type FieldError, invalid } from '@asterism/machinery';
import type { LogOptions } from '../machine/container-runtime.ts';
import { isSet } from './query-flags.ts';

const STREAMS = ['All', 'Stdout', 'Stderr'] as const;

/**
 * `PodLogOptions` of a query, by the rules of upstream's validation. Throws 422, or 400 for what is no number.
 * `insecureSkipTLSVerifyBackend` and what else is not of the log is passed over.
 */
export function readLogQuery(query: URLSearchParams, pod: string): LogOptions {
  const errors: FieldError[] = [];
  const integer = (field: string, least: number, detail: string): number | undefined => {
    const text = query.get(field);
    if (text === null || text === '') return undefined;
    if (!/^[+-]?\d{1,18}$/.test(text)) {
      throw failure(400, `strconv.ParseInt: parsing "${text.slice(0, 64)}": invalid syntax`);
    }
    const value = Number(text);
    if (value < least) errors.push(invalidValue(field, value, detail));
    return value;
  };
  const tailLines = integer('tailLines', 0, 'must be greater than or equal to 0');
  const limitBytes = integer('limitBytes', 1, 'must be greater than 0');
  const sinceTime = query.get('sinceTime') ?? '';
  const both = sinceTime !== '' && query.has('sinceSeconds');
  const sinceSeconds = both ? undefined : integer('sinceSeconds', 1, 'must be greater than 0');
  if (both) {
    errors.push(forbidden('at most one of `sinceTime` or `sinceSeconds` may be specified'));
  }
  if (sinceTime !== '' && Number.isNaN(Date.parse(sinceTime))) {
    throw failure(400, `parsing time "${sinceTime.slice(0, 64)}" as "2006-01-02T15:04:05Z07:00": cannot parse`);
  }
  const stream = readStream(query, errors);
  if (tailLines !== undefined && stream !== undefined && stream !== 'All') {
    errors.push(forbidden('`tailLines` and specific `stream` are mutually exclusive for now'));
  }
  if (errors.length > 0) throw invalid({ group: '', kind: 'PodLogOptions' }, pod, errors);
  return {
    follow: isSet(query, 'follow'),
    previous: isSet(query, 'previous'),
    timestamps: isSet(query, 'timestamps'),
    ...(tailLines === undefined ? {} : { tailLines }),
    ...(limitBytes === undefined ? {} : { limitBytes }),
    ...(sinceSeconds === undefined ? {} : { sinceSeconds }),
    ...(sinceTime === '' ? {} : { sinceTime }),
    ...(stream === undefined ? {} : { stream }),
  };
}

function readStream(query: URLSearchParams, errors: FieldError[]): LogOptions['stream'] {
  const text = query.get('stream') ?? '';
  if (text === '') return undefined;
  const stream = STREAMS.find((each) => each === text);
  if (stream === undefined) {
    const message = `Unsupported value: ${JSON.stringify(text)}: supported values: "All", "Stderr", "Stdout"`;
    errors.push({ type: 'FieldValueNotSupported', field: 'stream', message });
  }
  return stream;
}

function invalidValue(field: string, value: number, detail: string): FieldError {
  return { type: 'FieldValueInvalid', field, message: `Invalid value: ${value}: ${detail}` };
}

function forbidden(detail: string): FieldError {
  return { type: 'FieldValueForbidden', field: '[]', message: `Forbidden: ${detail}` };
}
