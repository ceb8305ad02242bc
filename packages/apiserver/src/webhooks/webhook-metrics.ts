/** What is told of each call, for the metrics that upstream names `apiserver_admission_webhook_*`. */
export interface WebhookMetrics {
  /** `code`: 200 for an answer that allows, else that of the refusal or failure. */
  webhookCalled(call: WebhookCall, outcome: { code: number; rejected: boolean; seconds: number }): void;
  webhookRejected(call: WebhookCall, errorType: RejectionType, code: number): void;
  webhookFailedOpen(call: Pick<WebhookCall, 'name' | 'type'>): void;
  matchConditionExcluded(call: WebhookCall): void;
  matchConditionFailed(call: WebhookCall): void;
}

export interface WebhookCall {
  name: string;
  type: 'admit' | 'validating';
  operation: string;
}

export type RejectionType = 'calling_webhook_error' | 'apiserver_internal_error' | 'no_error';
