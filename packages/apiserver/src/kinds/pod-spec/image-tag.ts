const LABEL = '[a-zA-Z0-9]+(?:-+[a-zA-Z0-9]+)*';
const HOST = new RegExp(`^(?:${LABEL}(?:\\.${LABEL})*|\\[[a-fA-F0-9:]+\\])(?::[0-9]+)?$`);
const PART = '[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*';
const DIGEST = 'sha256:[a-f0-9]{64}|sha384:[a-f0-9]{96}|sha512:[a-f0-9]{128}';
const REST = new RegExp(`^(${PART}(?:/${PART})*)(?::([A-Za-z0-9_][A-Za-z0-9_.-]{0,127}))?(?:@(${DIGEST}))?$`);
const HEXADECIMAL_NAME = /^[a-f0-9]{64}$/;
const LONGEST_NAME = 255;

/**
 * The tag of an image's name, `latest` where it has neither a tag nor a digest; empty where it has none, and for a text that is
 * no name of an image.
 */
export function imageTag(image: string): string {
  if (HEXADECIMAL_NAME.test(image)) return '';
  const slash = image.indexOf('/');
  const first = image.slice(0, Math.max(slash, 0));
  const hasHost = slash >= 0 && (/[.:]/.test(first) || first === 'localhost' || first.toLowerCase() !== first);
  if (hasHost && !HOST.test(first)) return '';
  const found = REST.exec(hasHost ? image.slice(slash + 1) : image);
  if (!found) return '';
  const [, path = '', tag = '', digest] = found;
  if (path.length + (hasHost ? slash + 1 : 0) > LONGEST_NAME) return '';
  return tag === '' && digest === undefined ? 'latest' : tag;
}

/** `latest`, and with it no tag at all, may be another image tomorrow. */
export function defaultPullPolicy(image: string): string {
  return imageTag(image) === 'latest' ? 'Always' : 'IfNotPresent';
}
