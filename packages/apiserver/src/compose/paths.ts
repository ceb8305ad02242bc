import type { ServiceAccountTokens } from '../authentication/service-account-tokens.ts';
import type { Discovery } from '../discovery/discovery-handler.ts';
import type { OpenApi } from '../openapi/openapi-handler.ts';
import { answerBytes, answerJson, methodNotAllowed } from '../http/answer/answer.ts';
import type { ApiCall } from '../http/request/api-call.ts';
import type { ApiResponse } from '../contract/api-request.ts';
import { type HealthEndpoints, handleHealth } from '../http/health/health.ts';
import { type Metrics, processGauges } from '../http/health/metrics.ts';
import { pageNotFound } from '../http/health/page-not-found.ts';
import type { VersionInfo } from '../http/health/version-info.ts';

export interface PathHandlerOptions {
  discovery: Discovery;
  openapi: OpenApi;
  health: HealthEndpoints;
  metrics: Metrics;
  version: VersionInfo;
  serviceAccountTokens: ServiceAccountTokens | undefined;
}

/** As upstream, these alone are also read with a slash at the end: authorization saw the path with it. */
const ROUTES: ReadonlySet<string> = new Set(['/version', '/openid/v1/jwks', '/.well-known/openid-configuration']);

/** The paths that name no resource: discovery, OpenAPI, health, version, metrics, keys. */
export function createPathHandler(options: PathHandlerOptions): (call: ApiCall) => Promise<ApiResponse> {
  return async ({ request }) => {
    const { discovery, health, metrics, openapi, serviceAccountTokens, version } = options;
    const path = ROUTES.has(request.path.replace(/\/$/, '')) ? request.path.replace(/\/$/, '') : request.path;
    const root = path.split('/')[1] ?? '';
    if (root === 'api' || root === 'apis') return await discovery.handle(request);
    if (root === 'healthz' || root === 'livez' || root === 'readyz') return await handleHealth(request, health);
    if (root === 'openapi') return await openapi.handle(request);
    if (path === '/version') {
      if (request.method !== 'GET') throw methodNotAllowed();
      return answerJson(200, version);
    }
    if (path === '/metrics') {
      const text = metrics.write(processGauges(), version);
      return answerBytes(200, Buffer.from(text), 'text/plain; version=0.0.4; charset=utf-8');
    }
    if (path === '/openid/v1/jwks' && serviceAccountTokens !== undefined) {
      const body = Buffer.from(JSON.stringify(await serviceAccountTokens.jwks()));
      return answerBytes(200, body, 'application/jwk-set+json');
    }
    if (path === '/.well-known/openid-configuration' && serviceAccountTokens !== undefined) {
      return answerJson(200, serviceAccountTokens.openIdConfiguration());
    }
    if (path === '/') return answerJson(200, { paths: listPaths(options) });
    return pageNotFound();
  };
}

function listPaths({ discovery, health, serviceAccountTokens }: PathHandlerOptions): string[] {
  const apis = discovery.groups().flatMap(({ name, versions }) => {
    const root = name === '' ? '/api' : `/apis/${name}`;
    return [root, ...versions.map(({ version }) => `${root}/${version}`)];
  });
  const checks = [
    ...health.live.flatMap(({ name }) => [`/healthz/${name}`, `/livez/${name}`]),
    ...health.ready.map(({ name }) => `/readyz/${name}`),
  ];
  const keys = serviceAccountTokens === undefined ? [] : ['/.well-known/openid-configuration', '/openid/v1/jwks'];
  const own = ['/apis', '/healthz', '/livez', '/metrics', '/openapi/v2', '/openapi/v3', '/readyz', '/version'];
  return [...new Set([...apis, ...checks, ...keys, ...own])].sort();
}
