import type { ExtensionContext } from '@asterism/apiserver';
import type { Logger } from '@asterism/runtime';
import { PROXY_GROUP } from '../api/index.ts';
import { DESTINATIONS, type DestinationCall, readDestinationCall } from './destination-call.ts';
import { isFollowing, type MemberCall, readMemberCall } from './member-call.ts';

export interface CallEnd {
  status: number;
  /** Why there was no answer of the member's; for the log alone, because addresses may stand in it. */
  cause?: unknown;
  /** Why it was refused, or failed, in words for anybody. */
  reason?: string | undefined;
}

export interface CallRecordOptions {
  logger: Logger;
  upgrade: boolean;
}

/**
 * The record of one call to a member: one line in the hub's log, and annotations of the hub's audit events of it. Who, to which
 * cluster, what, what came of it, how many bytes, how long. Never a header, a query or a body: tokens stand in these.
 *
 * What lasts (a watch, a followed log, a connection) has a line when it begins, and one when it ends; everything else one when
 * it has ended. A call that was refused has one as well.
 */
export class CallRecord {
  readonly #context: ExtensionContext;
  readonly #logger: Logger;
  readonly #began = performance.now();
  readonly #call: MemberCall | DestinationCall | { fault: string };
  /** Whether what is asked for lasts until one side ends it, as a watch does. */
  readonly follows: boolean;
  readonly #lasts: boolean;
  #answer: CallEnd = { status: 0 };
  #ended = false;
  /** From the caller, and to it. */
  bytesIn = 0;
  bytesOut = 0;

  constructor(context: ExtensionContext, { logger, upgrade }: CallRecordOptions) {
    const { request, rest, audit, resource } = context;
    const { method, query } = request;
    this.#context = context;
    this.#logger = logger;
    const path = memberPath(rest, query);
    this.#call = resource === DESTINATIONS ? readDestinationCall(method, `/${path}`) : readMemberCall(method, path);
    this.follows = !('fault' in this.#call) && isFollowing(this.#call, query);
    this.#lasts = upgrade || this.follows;
    if (!this.#lasts) audit?.endsSoon();
    audit?.annotate(annotations({ cluster: context.name, ...described(this.#call, rest) }));
    audit?.annotateAtEnd(() =>
      annotations({
        reason: this.#answer.reason,
        'bytes-in': String(this.bytesIn),
        'bytes-out': String(this.bytesOut),
        'duration-ms': String(this.#ms),
      }),
    );
  }

  /** What is asked of the member, or of a destination behind it; in words, why nobody can say. */
  get call(): MemberCall | DestinationCall | { fault: string } {
    return this.#call;
  }

  /** The member, or the hub, answered; what is still to come is the body, or a connection's bytes. */
  answered(answer: CallEnd): void {
    this.#answer = answer;
    if (this.#lasts && answer.status < 400) this.#tell('a call to a member began', {});
  }

  /** Nothing more comes. Called again it does nothing. */
  ended(): void {
    if (this.#ended) return;
    this.#ended = true;
    const { bytesIn, bytesOut } = this;
    this.#tell('proxied a call', { bytesIn, bytesOut, ms: this.#ms });
  }

  get #ms(): number {
    return Math.round(performance.now() - this.#began);
  }

  #tell(message: string, further: object): void {
    const { user, name, request, rest } = this.#context;
    const { status, reason, cause } = this.#answer;
    const auditId = request.headers['audit-id'];
    this.#logger.info(
      {
        user: user.username,
        groups: user.groups,
        member: name,
        ...described(this.#call, rest),
        status,
        ...further,
        ...(auditId === undefined ? {} : { auditId }),
        // The caller is not told of addresses: here they are.
        ...(cause instanceof Error ? { reason: cause.message } : reason === undefined ? {} : { reason }),
      },
      message,
    );
  }
}

/** The path and query at the member that a call to `clusters/NAME/proxy/…` stands for. */
export function memberPath(rest: string, query: URLSearchParams): string {
  const search = query.toString();
  return `${rest === '' ? '/' : rest}${search === '' ? '' : `?${search}`}`;
}

function described(
  call: MemberCall | DestinationCall | { fault: string },
  rest: string,
): Record<string, string | undefined> {
  if ('fault' in call) return { path: rest };
  if ('destination' in call) return { verb: call.verb, destination: call.destination, path: call.path };
  const { verb, target, path } = call;
  if (!target) return { verb, path };
  const { group, version, resource, subresource, namespace, name } = target;
  return {
    verb,
    'api-version': group === '' ? version : `${group}/${version}`,
    resource: subresource === '' ? resource : `${resource}/${subresource}`,
    ...(namespace === '' ? {} : { namespace }),
    ...(name === '' ? {} : { name }),
  };
}

function annotations(values: Readonly<Record<string, string | undefined>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(values).flatMap(([name, value]) => (value === undefined ? [] : [[`${PROXY_GROUP}/${name}`, value]])),
  );
}
