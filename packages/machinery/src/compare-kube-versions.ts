const KUBE_VERSION = /^v(\d+)(?:(alpha|beta)(\d+))?$/;

/**
 * Compares names of API versions as Kubernetes prefers them: positive where `a` is preferred to `b`. Stable ones come before
 * beta and alpha, then higher numbers first; names of no such form come last, alphabetically.
 */
export function compareKubeVersions(a: string, b: string): number {
  const [rankA, rankB] = [rankOf(a), rankOf(b)];
  if (!rankA || !rankB) return rankA ? 1 : rankB ? -1 : a < b ? 1 : a > b ? -1 : 0;
  for (const [i, part] of rankA.entries()) {
    const difference = part - (rankB[i] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

function rankOf(version: string): readonly number[] | undefined {
  const match = KUBE_VERSION.exec(version);
  if (!match) return undefined;
  const [, major, stage, minor = '0'] = match;
  return [stage === 'alpha' ? 0 : stage === 'beta' ? 1 : 2, Number(major), Number(minor)];
}
