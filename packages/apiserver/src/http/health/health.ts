import { answerText } from '../answer/answer.ts';
import type { ApiRequest, ApiResponse } from '../../contract/api-request.ts';
import { pageNotFound } from './page-not-found.ts';

/** One thing that must be well. Throws or rejects where it is not; the reason goes to the log, never to the caller. */
export interface HealthCheck {
  name: string;
  check(): void | Promise<void>;
  /** A check that upstream does not have: listed only when it fails, so that an answer is upstream's as long as all is well. */
  isQuiet?: boolean;
}

export interface HealthEndpoints {
  /** `/livez` and `/healthz`: a process that fails these should be restarted. */
  live: readonly HealthCheck[];
  /** `/readyz`: one that fails these should get no requests. */
  ready: readonly HealthCheck[];
  onFailure(endpoint: string, check: string, error: unknown): void;
}

/** Answers `/healthz`, `/livez`, `/readyz` and the checks below them, with `?verbose` and `?exclude=NAME` as upstream. */
export async function handleHealth(request: ApiRequest, endpoints: HealthEndpoints): Promise<ApiResponse> {
  const [, endpoint = '', ...rest] = request.path.split('/');
  const checks = endpoint === 'readyz' ? endpoints.ready : endpoints.live;
  const name = rest.join('/');
  if (rest.length === 0) return await checkAll(request, endpoint, checks, endpoints);
  const single = checks.find((check) => check.name === name);
  if (single === undefined) return pageNotFound();
  const { ok } = await run(single, endpoint, endpoints);
  return ok ? answerText(200, 'ok') : answerText(500, `internal server error: check ${name} failed\n`);
}

async function checkAll(
  request: ApiRequest,
  endpoint: string,
  checks: readonly HealthCheck[],
  endpoints: HealthEndpoints,
): Promise<ApiResponse> {
  const excluded = new Set(request.query.getAll('exclude').filter((name) => name !== ''));
  const lines: string[] = [];
  let healthy = true;
  for (const check of checks) {
    if (excluded.delete(check.name)) {
      lines.push(`[+]${check.name} excluded: ok`);
      continue;
    }
    const { ok } = await run(check, endpoint, endpoints);
    healthy &&= ok;
    if (ok && check.isQuiet) continue;
    lines.push(ok ? `[+]${check.name} ok` : `[-]${check.name} failed: reason withheld`);
  }
  if (excluded.size > 0) {
    const names = [...excluded].map((name) => JSON.stringify(name)).join(',');
    lines.push(`warn: some health checks cannot be excluded: no matches for ${names}`);
  }
  if (!healthy) return answerText(500, `${lines.join('\n')}\n${endpoint} check failed\n`);
  return answerText(200, request.query.has('verbose') ? `${lines.join('\n')}\n${endpoint} check passed\n` : 'ok');
}

async function run(check: HealthCheck, endpoint: string, endpoints: HealthEndpoints): Promise<{ ok: boolean }> {
  try {
    await check.check();
    return { ok: true };
  } catch (error) {
    endpoints.onFailure(endpoint, check.name, error);
    return { ok: false };
  }
}
