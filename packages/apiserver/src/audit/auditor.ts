import type { ServerLogger } from '../contract/server-logger.ts';
import type { UserInfo } from '../contract/user-info.ts';
import { firstHeader } from '../contract/first-header.ts';
import type { ApiRequest } from '../contract/api-request.ts';
import type { RequestInfo } from '../contract/request-info.ts';
import { type AuditEvent, newAuditEvent } from './audit-event.ts';
import type { AuditLevel, AuditPolicy, AuditStage } from './audit-policy.ts';
import { AuditedRequest } from './audited-request.ts';
import { LineQueue, type LineTarget } from './line-queue.ts';
import { type AuditConfig, ruleMatcher } from './match-rule.ts';
import { createMicroClock, formatMicroTime } from './micro-clock.ts';

/** Losses are told at most so often, with how many there were since. */
const REPORT_EVERY_MS = 60_000;

export interface AuditorOptions {
  policy: AuditPolicy;
  /** By the names that metrics and the log tell them by. */
  targets: Readonly<Record<string, LineTarget>>;
  logger: ServerLogger | undefined;
  /** Milliseconds since 1970. */
  clock: () => number;
}

/** What is known of a request when it is let in, or turned away. */
export interface Arrival {
  auditId: string;
  /** Undefined where nobody knows who it is. */
  user: UserInfo | undefined;
  isLong: boolean;
  /** When it came, as {@link Auditor.now} has it. */
  received: number;
}

interface Target {
  queue: LineQueue;
  lost: number;
  /** Lost and not told yet. */
  untold: number;
  tellAfter: number;
}

/** Writes down who did what, as the policy says. Never holds up a request, and never fails one. */
export class Auditor {
  /** Microseconds since 1970. */
  readonly now: () => number;
  readonly #configOf: (user: UserInfo | undefined, info: RequestInfo) => AuditConfig;
  readonly #targets = new Map<string, Target>();
  readonly #logger: ServerLogger | undefined;
  readonly #levels = new Map<AuditLevel, number>();
  readonly #underWay = new Set<Promise<void>>();
  #events = 0;

  constructor({ policy, targets, logger, clock }: AuditorOptions) {
    this.now = createMicroClock(clock);
    this.#configOf = ruleMatcher(policy);
    this.#logger = logger;
    for (const [name, target] of Object.entries(targets)) {
      const queue = new LineQueue(target, (count, error) => this.#lose(name, count, error));
      this.#targets.set(name, { queue, lost: 0, untold: 0, tellAfter: 0 });
    }
  }

  /** A request whose caller is known. Undefined where the policy wants nothing of it. */
  begin(request: ApiRequest, info: RequestInfo, arrival: Arrival): AuditedRequest | undefined {
    const { config, event } = this.#newEvent(request, info, arrival) ?? {};
    if (config === undefined || event === undefined) return undefined;
    const emit = (stage: AuditStage, at?: number): void => this.#emit(event, config, { stage, at });
    emit('RequestReceived', arrival.received);
    const { isLong } = arrival;
    const track = (work: Promise<void>): void => this.#track(work);
    return new AuditedRequest({ request, info, event, config, isLong, emit, now: this.now, track });
  }

  /** A request with credentials that are no good: one event tells it. */
  refused(request: ApiRequest, info: RequestInfo, arrival: Arrival): void {
    const { config, event } = this.#newEvent(request, info, arrival) ?? {};
    if (config === undefined || event === undefined) return;
    event.responseStatus = { metadata: {}, status: 'Failure', message: whatWasTried(request), code: 401 };
    this.#emit(event, config, { stage: 'ResponseStarted' });
  }

  /** Lines of Prometheus' text format, in upstream's names. */
  metrics(): string[] {
    const lines = counter('apiserver_audit_event_total', 'Audit events that were written or should have been.');
    lines.push(`apiserver_audit_event_total ${this.#events}`);
    lines.push(
      ...counter('apiserver_audit_error_total', 'Audit events that were lost, by where they should have gone.'),
    );
    for (const [name, { lost }] of this.#targets) lines.push(`apiserver_audit_error_total{plugin="${name}"} ${lost}`);
    lines.push(...counter('apiserver_audit_level_total', 'Requests by the level that the audit policy gives them.'));
    for (const [level, count] of this.#levels) lines.push(`apiserver_audit_level_total{level="${level}"} ${count}`);
    lines.push(...counter('apiserver_audit_requests_rejected_total', 'Always 0: no request is refused for its event.'));
    lines.push('apiserver_audit_requests_rejected_total 0');
    return lines;
  }

  /** Writes what there is; never rejects. */
  async close(): Promise<void> {
    await Promise.all(this.#underWay);
    await Promise.all([...this.#targets.values()].map(({ queue }) => queue.close()));
    for (const [name, target] of this.#targets) if (target.untold > 0) this.#tell(name, target, undefined);
  }

  #newEvent(
    request: ApiRequest,
    info: RequestInfo,
    { auditId, user, received }: Arrival,
  ): { config: AuditConfig; event: AuditEvent } | undefined {
    const config = this.#configOf(user, info);
    const { level } = config;
    this.#levels.set(level, (this.#levels.get(level) ?? 0) + 1);
    if (level === 'None') return undefined;
    const facts = { level, auditId, user, received: formatMicroTime(received) };
    return { config, event: newAuditEvent(request, info, facts) };
  }

  #emit(
    event: AuditEvent,
    { omitStages }: AuditConfig,
    { stage, at }: { stage: AuditStage; at?: number | undefined },
  ): void {
    if (omitStages.has(stage)) return;
    event.stage = stage;
    event.stageTimestamp = formatMicroTime(at ?? this.now());
    this.#events++;
    const line = JSON.stringify(event);
    for (const { queue } of this.#targets.values()) queue.add(line);
  }

  #track(work: Promise<void>): void {
    const done = work
      .catch((error: unknown) => {
        for (const name of this.#targets.keys()) this.#lose(name, 1, error);
      })
      .finally(() => this.#underWay.delete(done));
    this.#underWay.add(done);
  }

  #lose(name: string, count: number, error: unknown): void {
    const target = this.#targets.get(name)!;
    target.lost += count;
    target.untold += count;
    if (performance.now() >= target.tellAfter) this.#tell(name, target, error);
  }

  #tell(name: string, target: Target, error: unknown): void {
    const fields = { ...(error === undefined ? {} : { err: error }), target: name, lost: target.untold };
    target.untold = 0;
    target.tellAfter = performance.now() + REPORT_EVERY_MS;
    this.#logger?.error(fields, 'audit events were lost');
  }
}

function counter(name: string, help: string): string[] {
  return [`# HELP ${name} ${help}`, `# TYPE ${name} counter`];
}

/** By which ways somebody tried to be known, as upstream tells it; never with what. */
function whatWasTried({ headers, peer, query }: ApiRequest): string {
  const [scheme = '', ...rest] = (firstHeader(headers, 'authorization') ?? '').trim().split(' ');
  const tried = [
    ...(scheme.toLowerCase() === 'basic' && rest.length > 0 ? ['basic'] : []),
    ...(scheme.toLowerCase() === 'bearer' && rest.length > 0 ? ['bearer'] : []),
    ...((query.get('access_token') ?? '').trim() === '' ? [] : ['access_token']),
    ...(peer?.certificate !== undefined || peer?.certificateRefused ? ['x509'] : []),
  ];
  if (tried.length === 0) return 'Authentication failed, no credentials provided';
  return `Authentication failed, attempted: ${tried.join(', ')}`;
}
