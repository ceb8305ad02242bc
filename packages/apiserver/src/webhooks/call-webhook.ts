import { isJsonObject, type KubeObject, parseJson, quoteGo, type Status } from '@asterism/machinery';
import type { AdmissionAttributes } from '../registry/admission-attributes.ts';
import { createReview, readAnswer, type ReviewAnswer, ReviewFault } from './admission-review.ts';
import { decodeReview } from './decode-review.ts';
import type { Invocation } from './match-webhook.ts';
import { TransportFault, type WebhookClient, type WebhookResponse } from './webhook-client.ts';
import { denial, dryRunUnsupported, WebhookFailure } from './webhook-failure.ts';

const SAFE_SIDE_EFFECTS = ['None', 'NoneOnDryRun'];

/**
 * Asks one webhook, passes its warnings and annotations on, and resolves with its answer where it allows the request.
 *
 * Rejects with a {@link WebhookFailure} where it could not be asked or answered nonsense, and with the `StatusError` of a
 * denial, or of a dry run that it is not fit for.
 */
export async function callWebhook(
  client: WebhookClient,
  invocation: Invocation,
  request: AdmissionAttributes,
  given: { objects: { object: KubeObject | undefined; oldObject: KubeObject | undefined }; stopped: AbortSignal },
): Promise<ReviewAnswer> {
  const { webhook } = invocation;
  const { name, sideEffects = '' } = webhook;
  if (request.dryRun && !SAFE_SIDE_EFFECTS.includes(sideEffects)) throw dryRunUnsupported(name);
  const answer = await ask(client, invocation, request, given);
  for (const [key, value] of Object.entries(answer.auditAnnotations)) request.annotate(`${name}/${key}`, value);
  for (const text of answer.warnings) request.warn(text);
  if (!answer.allowed) throw denial(name, answer.result);
  return answer;
}

async function ask(
  client: WebhookClient,
  invocation: Invocation,
  request: AdmissionAttributes,
  { objects, stopped }: Parameters<typeof callWebhook>[3],
): Promise<ReviewAnswer> {
  const { webhook } = invocation;
  const { name, timeoutSeconds } = webhook;
  const deadline = AbortSignal.timeout(timeoutSeconds * 1000);
  const givenUp = request.signal ? AbortSignal.any([request.signal, stopped]) : stopped;
  const signal = AbortSignal.any([deadline, givenUp]);
  try {
    const review = createReview(invocation, request, objects);
    const body = JSON.stringify(review.review);
    const response = await client.post(webhook.client, body, { timeoutSeconds, signal });
    const document = readDocument(response);
    return readAnswerOf(document, review, webhook.type === 'admit');
  } catch (error) {
    if (!(error instanceof TransportFault || error instanceof ReviewFault)) throw error;
    throw new WebhookFailure(name, `${prefixOf(error)}${error.message}`, { isCanceled: givenUp.aborted });
  }
}

function prefixOf(error: TransportFault | ReviewFault): string {
  if (error.message.startsWith('could not create')) return '';
  return error instanceof AnswerFault ? 'received invalid webhook response: ' : 'failed to call webhook: ';
}

/** A review that was decoded, and is no answer. */
class AnswerFault extends ReviewFault {}

function readAnswerOf(
  document: Record<string, unknown>,
  review: ReturnType<typeof createReview>,
  isMutating: boolean,
): ReviewAnswer {
  try {
    return readAnswer(document, review, isMutating);
  } catch (error) {
    throw error instanceof ReviewFault ? new AnswerFault(error.message, { cause: error }) : error;
  }
}

/** The body of an answer with a status of success, as an AdmissionReview with the types that its fields have. */
function readDocument(response: WebhookResponse): Record<string, unknown> {
  const { status, body } = response;
  if (status < 200 || status > 206) throw new ReviewFault(describeStatus(response));
  const review = decodeReview(body);
  if (review.kind !== 'Status') return review;
  const { status: outcome, message = '' } = review as Partial<Status>;
  if (outcome === 'Success') return review;
  throw new ReviewFault(message);
}

/** client-go's words for the answer of a server that says no more than its code. */
function describeStatus({ status, body, contentType }: WebhookResponse): string {
  const own = statusIn(body);
  if (own !== undefined) return own;
  const message = GENERIC_MESSAGES[status];
  if (message !== undefined) return message;
  if (status >= 500) {
    const told = contentType.startsWith('text/') ? body.trim() : '';
    return `an error on the server (${quoteGo(told || 'unknown')}) has prevented the request from succeeding`;
  }
  return `the server responded with the status code ${status} but did not return more information`;
}

/** A body that is a Status says itself what is wrong. */
function statusIn(body: string): string | undefined {
  try {
    const value = parseJson(body);
    if (!isJsonObject(value) || value['kind'] !== 'Status' || value['status'] === 'Success') return undefined;
    return typeof value['message'] === 'string' ? value['message'] : '';
  } catch {
    return undefined;
  }
}

const GENERIC_MESSAGES: Readonly<Record<number, string>> = {
  400: 'the server rejected our request for an unknown reason',
  401: 'the server has asked for the client to provide credentials',
  403: 'unknown',
  404: 'the server could not find the requested resource',
  405: 'the server does not allow this method on the requested resource',
  406: 'the server was unable to respond with a content type that the client supports',
  409: 'the server reported a conflict',
  415: 'the body of the request was in an unknown format - accepted media types include: ',
  422: 'the server rejected our request due to an error in our request',
  429: 'the server has received too many requests and has asked us to try again later',
  503: 'the server is currently unable to handle the request',
  504: 'the server was unable to return a response in the time allotted, but may still be processing the request',
};
