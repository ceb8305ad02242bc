/** The parts of an image reference: `registry/repository:tag@digest`, all but the repository optional. */
export interface Image {
  registry: string;
  repository: string;
  tag: string;
  digest: string;
}

/** Reads an image reference. What stands before the first `/` is a registry if it has a dot or a port, or is `localhost`. */
export function parseImage(text: string): Image {
  const [rest = '', digest = ''] = text.split('@', 2);
  const slash = rest.indexOf('/');
  const host = slash < 0 ? '' : rest.slice(0, slash);
  const registry = host === 'localhost' || /[.:]/.test(host) ? host : '';
  const path = registry === '' ? rest : rest.slice(slash + 1);
  const colon = path.indexOf(':');
  if (colon < 0) return { registry, repository: path, tag: '', digest };
  return { registry, repository: path.slice(0, colon), tag: path.slice(colon + 1), digest };
}

export function formatImage({ registry, repository, tag, digest }: Image): string {
  const name = registry === '' ? repository : `${registry}/${repository}`;
  return `${name}${tag && `:${tag}`}${digest && `@${digest}`}`;
}

/** The tag with the digest, as one component that overrides change: `v1`, `sha256:…` or `v1@sha256:…`. */
export function versionOf({ tag, digest }: Image): string {
  return tag && digest ? `${tag}@${digest}` : tag || digest;
}

/** The image with another version; a text like `sha256:…` is a digest. Empty removes tag and digest. */
export function withVersion(image: Image, version: string): Image {
  const at = version.indexOf('@');
  if (at >= 0) return { ...image, tag: version.slice(0, at), digest: version.slice(at + 1) };
  return version.includes(':') ? { ...image, tag: '', digest: version } : { ...image, tag: version, digest: '' };
}

const DOMAIN = String.raw`(?:[\w-]+(?:\.[\w-]+)*|\[[\da-fA-F:]+\])(?::\d+)?`;
const PATH = String.raw`[a-z\d]+(?:(?:\.|__?|-+)[a-z\d]+)*`;
const DIGEST = String.raw`[A-Za-z][A-Za-z\d]*(?:[-_+.][A-Za-z][A-Za-z\d]*)*:[\da-fA-F]{32,}`;
const IMAGE = new RegExp(`^(?:${DOMAIN}/)?${PATH}(?:/${PATH})*(?::\\w[\\w.-]{0,127})?(?:@${DIGEST})?$`);

/** Whether a text is an image reference by the grammar of `distribution/reference`; its bounds of length are not looked at. */
export function isImage(text: string): boolean {
  return IMAGE.test(text);
}
