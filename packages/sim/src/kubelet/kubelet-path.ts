import { failure } from '@asterism/machinery';
import type { ContainerRef, NodeBackend, PodRef } from '../machine/container-runtime.ts';

/** A request's first word and what comes behind it, decoded. */
export interface KubeletPath {
  route: string;
  rest: readonly string[];
  query: URLSearchParams;
}

export function readPath(url: string | undefined): KubeletPath {
  const parsed = URL.parse(url ?? '/', 'https://kubelet');
  if (parsed === null) throw failure(400, 'Bad Request');
  const [route = '', ...rest] = parsed.pathname.split('/').slice(1).map(decode);
  return { route, rest, query: parsed.searchParams };
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw failure(400, 'Bad Request');
  }
}

export function pageNotFound(): Error {
  return failure(404, '404: Page Not Found');
}

/** `/NAMESPACE/POD/CONTAINER` and `/NAMESPACE/POD/UID/CONTAINER`. */
export function containerOf(rest: readonly string[]): ContainerRef {
  const [namespace = '', pod = ''] = rest;
  const container = rest.at(-1) ?? '';
  if ((rest.length !== 3 && rest.length !== 4) || rest.includes('')) throw pageNotFound();
  return { namespace, pod, container };
}

/** `/NAMESPACE/POD` and `/NAMESPACE/POD/UID`. */
export function podOf(rest: readonly string[]): PodRef {
  const [namespace = '', pod = ''] = rest;
  if ((rest.length !== 2 && rest.length !== 3) || rest.includes('')) throw pageNotFound();
  return { namespace, pod };
}

export function requireBackend(
  { backendOf }: { backendOf(pod: PodRef): NodeBackend | undefined },
  pod: PodRef,
  message = 'pod does not exist',
): NodeBackend {
  const backend = backendOf(pod);
  if (backend === undefined) throw failure(404, message);
  return backend;
}
