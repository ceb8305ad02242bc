import { cutForMessage } from './cut-for-message.ts';
import type { Status, StatusCause } from './object.ts';

/** Longest message. A caller can send 3 MB, and an answer must not repeat them. */
const MOST_MESSAGE = 512 * 1024;
/** Most causes, and most characters of their fields and messages. */
const MOST_CAUSES = 1_001;
const MOST_OF_CAUSES = 384 * 1024;

/** The status itself if it is short, else with a message, a name and causes that are cut. */
export function shortStatus(status: Status): Status {
  const { message, details } = status;
  const { name, causes } = details ?? {};
  const isShort =
    lengthOf(message) <= MOST_MESSAGE &&
    lengthOf(name) <= MOST_MESSAGE &&
    (!Array.isArray(causes) || (causes.length <= MOST_CAUSES && lengthOfCauses(causes) <= MOST_OF_CAUSES));
  if (isShort) return status;
  const shortDetails = {
    ...details,
    ...(typeof name === 'string' ? { name: cutForMessage(name) } : {}),
    ...(Array.isArray(causes) ? { causes: firstCauses(causes) } : {}),
  };
  return {
    ...status,
    ...(typeof message === 'string' ? { message: cutForMessage(message, MOST_MESSAGE) } : {}),
    ...(details ? { details: shortDetails } : {}),
  };
}

function firstCauses(causes: readonly StatusCause[]): StatusCause[] {
  let length = 0;
  return causes.slice(0, MOST_CAUSES).filter((cause) => {
    length += lengthOfCauses([cause]);
    return length <= MOST_OF_CAUSES;
  });
}

function lengthOfCauses(causes: readonly StatusCause[]): number {
  return causes.reduce((sum, { field, message }) => sum + lengthOf(field) + lengthOf(message), 0);
}

/** A server that is not ours may say something else than a text. */
function lengthOf(text: unknown): number {
  return typeof text === 'string' ? text.length : 0;
}
