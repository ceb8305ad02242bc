import type { TransportRequest, TransportResponse, UpgradeResponse } from '@asterism/client';
import type { TunnelErrorReason } from '../tunnel-error.ts';
import { targetFailure } from '../wire/failure-headers.ts';
import type { ServeContext } from './serve-context.ts';

/** Why there is no answer of the target: what the hub is told. */
export interface NoAnswer {
  failed: [reason: TunnelErrorReason, message: string];
}

/** Sends a call on to the target if it is admitted. One that is refused is logged, without its query: tokens stand in queries. */
export function askTarget(request: TransportRequest, context: ServeContext): Promise<TransportResponse | NoAnswer> {
  return ask(request, context, { upgrade: false, send: (admitted) => context.target.request(admitted) });
}

/** As {@link askTarget}, for an upgrade. */
export function askTargetToUpgrade(
  request: TransportRequest,
  context: ServeContext,
): Promise<UpgradeResponse | TransportResponse | NoAnswer> {
  return ask(request, context, { upgrade: true, send: (admitted) => context.target.upgrade(admitted) });
}

async function ask<Answer>(
  request: TransportRequest,
  { admit, logger }: ServeContext,
  { upgrade, send }: { upgrade: boolean; send: (admitted: TransportRequest) => Promise<Answer> },
): Promise<Answer | NoAnswer> {
  const admitted = admit(request, { upgrade });
  if ('refused' in admitted) {
    const { method } = request;
    const path = request.path.replace(/\?.*$/s, '');
    const reason = admitted.refused;
    logger?.warn({ method, path, reason }, upgrade ? 'upgrade refused' : 'request refused');
    return { failed: ['REFUSED', `the agent refuses ${method} ${path}: ${reason}`] };
  }
  try {
    return await send({ ...admitted, signal: request.signal });
  } catch (error) {
    return { failed: targetFailure(error) };
  }
}
