import { BOOL, listOf, mapOf, opaqueType, STRING } from '../typing/cel-type.ts';
import type { FunctionLibrary } from '../typing/overload.ts';
import { LiteralMap } from '../values/literal-map.ts';
import { CelOpaque, fail } from '../values/value.ts';
import type { Meter } from '../evaluate/meter.ts';

const URL_TYPE = opaqueType('kubernetes.URL');

interface UrlParts {
  scheme: string;
  /** With its port. */
  host: string;
  path: string;
  query: string;
}

class CelUrl extends CelOpaque {
  readonly type = URL_TYPE;
  readonly text: string;
  readonly parts: UrlParts;

  constructor(text: string, parts: UrlParts) {
    super();
    this.text = text;
    this.parts = parts;
  }

  equals(other: CelOpaque): boolean {
    return other instanceof CelUrl && other.text === this.text;
  }
}

/** Kubernetes' URLs, as Go's `url.ParseRequestURI` reads them. */
export function defineUrls(library: FunctionLibrary): void {
  type One = readonly [CelUrl];
  const method = library.method.bind(library);
  library.define('url', 'string_to_url', [STRING], URL_TYPE, ([text]: readonly [string], meter) => {
    meter.work(text.length / 5);
    const parts = parseUrl(text);
    return typeof parts === 'string'
      ? fail(`URL parse error during conversion from string: parse ${JSON.stringify(text)}: ${parts}`)
      : new CelUrl(text, parts);
  });
  library.define('isURL', 'is_url_string', [STRING], BOOL, ([text]: readonly [string], meter) => {
    meter.work(text.length / 5);
    return typeof parseUrl(text) !== 'string';
  });
  method('getScheme', 'url_get_scheme', [URL_TYPE], STRING, ([{ parts }]: One) => parts.scheme);
  method('getHost', 'url_get_host', [URL_TYPE], STRING, ([{ parts }]: One) => parts.host);
  method('getHostname', 'url_get_hostname', [URL_TYPE], STRING, ([{ parts }]: One) => splitHost(parts.host).name);
  method('getPort', 'url_get_port', [URL_TYPE], STRING, ([{ parts }]: One) => splitHost(parts.host).port);
  method('getEscapedPath', 'url_get_escaped_path', [URL_TYPE], STRING, ([{ parts }]: One) => parts.path);
  method('getQuery', 'url_get_query', [URL_TYPE], mapOf(STRING, listOf(STRING)), ([{ parts }]: One, meter) =>
    queryOf(parts.query, meter),
  );
}

/** The parts of a URL, or Go's fault. */
export function parseUrl(text: string): UrlParts | string {
  if (hasControl(text)) return 'net/url: invalid control character in URL';
  if (text === '') return 'empty url';
  const scheme = /^[a-zA-Z][a-zA-Z0-9+.-]*(?=:)/.exec(text)?.[0] ?? '';
  if (scheme === '' && text.startsWith(':')) return 'missing protocol scheme';
  const rest = scheme === '' ? text : text.slice(scheme.length + 1);
  const question = rest.indexOf('?');
  const [before, query] = question < 0 ? [rest, ''] : [rest.slice(0, question), rest.slice(question + 1)];
  if (!before.startsWith('/')) {
    return scheme === '' ? 'invalid URI for request' : { scheme: scheme.toLowerCase(), host: '', path: '', query };
  }
  if (!before.startsWith('//') || (scheme === '' && before.startsWith('///'))) {
    const fault = escapeFault(before, false);
    return fault ?? { scheme: scheme.toLowerCase(), host: '', path: before, query };
  }
  const slash = before.indexOf('/', 2);
  const authority = before.slice(2, slash < 0 ? undefined : slash);
  const path = slash < 0 ? '' : before.slice(slash);
  const at = authority.lastIndexOf('@');
  const host = authority.slice(at + 1);
  const user = at < 0 ? '' : authority.slice(0, at);
  if (/[^A-Za-z0-9\-._:~!$&'()*+,;=%@]/.test(user)) return 'net/url: invalid userinfo';
  const fault = hostFault(host) ?? escapeFault(path, false);
  return fault ?? { scheme: scheme.toLowerCase(), host, path, query };
}

function hasControl(text: string): boolean {
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (code < 0x20 || code === 0x7f) return true;
  }
  return false;
}

function hostFault(host: string): string | undefined {
  if (host.startsWith('[')) {
    const end = host.lastIndexOf(']');
    if (end < 0) return "missing ']' in host";
    return portFault(host.slice(end + 1));
  }
  const colon = host.lastIndexOf(':');
  if (colon >= 0) {
    const fault = portFault(host.slice(colon));
    if (fault) return fault;
  }
  return escapeFault(host, true);
}

function portFault(port: string): string | undefined {
  if (port === '' || /^:[0-9]*$/.test(port)) return undefined;
  return `invalid port ${JSON.stringify(port)} after host`;
}

/** Of a `%` without two hexadecimal digits, or a character that no host has. */
function escapeFault(text: string, isHost: boolean): string | undefined {
  for (let at = text.indexOf('%'); at >= 0; at = text.indexOf('%', at + 1)) {
    const escape = text.slice(at, at + 3);
    if (
      !/^%[0-9a-fA-F]{2}$/.test(escape) ||
      (isHost && Number.parseInt(escape.slice(1), 16) < 0x80 && escape !== '%25')
    ) {
      return `invalid URL escape ${JSON.stringify(escape)}`;
    }
  }
  const bad = isHost ? /[^A-Za-z0-9\-_.~!$&'()*+,;=:[\]<>"%\u0080-\uffff]/.exec(text)?.[0] : undefined;
  return bad === undefined ? undefined : `invalid character ${JSON.stringify(bad)} in host name`;
}

function splitHost(host: string): { name: string; port: string } {
  const end = host.lastIndexOf(']');
  const colon = host.indexOf(':', end + 1);
  const [name, port] = colon < 0 ? [host, ''] : [host.slice(0, colon), host.slice(colon + 1)];
  return { name: name.startsWith('[') && name.endsWith(']') ? name.slice(1, -1) : name, port };
}

function queryOf(query: string, meter: Meter): LiteralMap {
  meter.work(query.length);
  const values = new Map<string, string[]>();
  for (const pair of query.split('&')) {
    if (pair === '' || pair.includes(';')) continue;
    const equals = pair.indexOf('=');
    const [key, value] = equals < 0 ? [pair, ''] : [pair.slice(0, equals), pair.slice(equals + 1)];
    const [name, text] = [unescape(key), unescape(value)];
    if (name === undefined || text === undefined) continue;
    const known = values.get(name);
    if (known) known.push(text);
    else values.set(name, [text]);
  }
  const map = new LiteralMap();
  for (const [name, texts] of values) map.insert(name, texts);
  return map;
}

function unescape(text: string): string | undefined {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return undefined;
  }
}
