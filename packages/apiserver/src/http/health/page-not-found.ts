import { answerText } from '../answer/answer.ts';
import type { ApiResponse } from '../../contract/api-request.ts';

/** The answer to a path that is neither an API nor one of the server's own; as upstream it is no `Status`. */
export function pageNotFound(): ApiResponse {
  return answerText(404, '404 page not found\n');
}
