import { Readable } from 'node:stream';
import { READ_LIMITS, readStart, type Transport, type TransportRequest } from '@asterism/client';
import { failure, parseJson, type Status, type StatusError } from '@asterism/machinery';

/** What an API server's aggregator answers in the place of an API that is not there (yet), as text or as a Status. */
const AGGREGATOR =
  /^(service unavailable|error trying to reach service|404 page not found|the server is currently unable)/i;
const SILENT = new Set([404, 502, 503, 504]);

/** An answer of more than this is no aggregator's; the rest is not read. */
const LIMITS = { ...READ_LIMITS.error, maxBytes: 64 * 1024 };
const MAX_QUOTE = 200;

/**
 * The same transport, where a request whose answer is not of the API that was asked, but of an aggregator, a load balancer or a
 * proxy before it, rejects with a `StatusError` that says which API is silent, where, and what to do.
 */
export function nameSilentApis(transport: Transport): Transport {
  return {
    ...(transport.server === undefined ? {} : { server: transport.server }),
    async request(request) {
      const response = await transport.request(request);
      if (!SILENT.has(response.status)) return response;
      const body = await readStart(response.body, transport.server ?? 'the hub', { limits: LIMITS });
      const said = wordsOf(body.toString('utf8'));
      const silent = said === undefined ? undefined : explain(request, response.status, said, transport.server);
      if (silent) throw silent;
      return { ...response, body: Readable.from([body]) };
    },
    upgrade: (request) => transport.upgrade(request),
    close: () => transport.close(),
    [Symbol.asyncDispose]: () => transport.close(),
  };
}

/** What was said by somebody other than the API; undefined where the API itself spoke. */
function wordsOf(text: string): string | undefined {
  const status = parseStatus(text);
  if (status === undefined) return text.trim().replaceAll(/\s+/g, ' ').slice(0, MAX_QUOTE);
  const { message = '' } = status;
  return AGGREGATOR.test(message) ? message : undefined;
}

function parseStatus(text: string): Status | undefined {
  try {
    const body = parseJson(text) as Status | null;
    return body?.kind === 'Status' ? body : undefined;
  } catch {
    return undefined;
  }
}

/** A member's API, by way of the hub. */
const BY_PROXY = /^\/apis\/(proxy\.asterism\.dev)\/(\w+)\/clusters\/([^/]+)\/proxy(\/.*)$/;
const GROUP_VERSION = /^\/apis\/([^/?]+)\/([^/?]+)/;
const OURS = /^((proxy|search)\.)?asterism\.dev$/;

function explain(
  { path }: TransportRequest,
  code: number,
  said: string,
  server = 'the server',
): StatusError | undefined {
  const [, proxy, proxyVersion, cluster, inner = ''] = BY_PROXY.exec(path) ?? [];
  const [, group = proxy, version = proxyVersion] = GROUP_VERSION.exec(proxy === undefined ? path : inner) ?? [];
  const told = said === '' ? String(code) : `${code}: ${said}`;
  const tell = (message: string): StatusError =>
    failure(code, message, { details: { causes: [{ reason: 'UnexpectedServerResponse', message: said }] } });
  const api = `${group}/${version}`;
  const look = `\`kubectl get apiservice ${version}.${group}\``;
  if (group !== undefined && OURS.test(group)) {
    return tell(
      code === 404
        ? `${server} serves no ${api} (${told}): is it a hub's? On a kube-apiserver \`aster hub\` has to run and to lead; ${look} tells`
        : `${api} at ${server} does not answer (${told}): the hub behind it is starting, or gone. Try again in some seconds; ${look} tells why`,
    );
  }
  if (code === 404) return undefined;
  const where = cluster === undefined ? server : `cluster ${decodeURIComponent(cluster)}`;
  return tell(
    group === undefined
      ? `${where} does not answer as an API server (${told}): it is starting, or something before it answered. Try again in some seconds, and check the address`
      : `${api} of ${where} does not answer (${told}): ${look} there tells why`,
  );
}
