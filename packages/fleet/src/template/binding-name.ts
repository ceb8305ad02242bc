import { createHash } from 'node:crypto';
import { validateDns1123Subdomain, withoutTrailing } from '@asterism/machinery';
import type { TemplateKey } from './template-key.ts';

const NAME_LIMIT = 253;
const LABEL_LIMIT = 63;
const DIGEST_LENGTH = 10;

/** `web-deployment`: the name of a template's binding. Where that is no name, or too long for one, a digest makes it unique. */
export function bindingName(template: TemplateKey): string {
  const name = `${template.name}-${template.kind.toLowerCase()}`;
  return validateDns1123Subdomain(name).length === 0 ? name : digestedName(template);
}

/**
 * The name for a template whose {@link bindingName} another has taken: one of the same name and kind, but of another API
 * group. Also for names of 254 characters and more, and for those of RBAC, which may be anything.
 */
export function digestedName(template: TemplateKey): string {
  const { apiVersion, kind, name } = template;
  const group = apiVersion.includes('/') ? apiVersion.slice(0, apiVersion.indexOf('/')) : '';
  return withDigest(`${name}-${kind.toLowerCase()}`, `${group}/${kind}/${name}`, NAME_LIMIT);
}

/** `demo.web-deployment`: the name of a binding's Works, in the namespace of each cluster. */
export function workName(binding: { namespace?: string | undefined; name: string }): string {
  const { namespace, name } = binding;
  // A binding without a namespace must not be taken for one whose namespace is the part before its first dot.
  if (namespace === undefined) return name.includes('.') ? withDigest(name, `/${name}`, NAME_LIMIT) : name;
  const whole = `${namespace}.${name}`;
  return whole.length <= NAME_LIMIT ? whole : withDigest(whole, whole, NAME_LIMIT);
}

/** The value by which a member's object names its Work: the Work's name, made to fit a label. */
export function managedLabelValue(work: string): string {
  return work.length <= LABEL_LIMIT ? work : withDigest(work, work, LABEL_LIMIT);
}

/** As much of the readable text as is a name and leaves room for the digest of the identity. */
function withDigest(readable: string, identity: string, limit: number): string {
  const digest = createHash('sha256').update(identity).digest('hex').slice(0, DIGEST_LENGTH);
  const clean = readable
    .toLowerCase()
    .replaceAll(/[^a-z0-9.-]+/g, '-')
    .slice(0, limit - DIGEST_LENGTH - 1);
  const parts = clean.split('.').map((part) => withoutTrailing(part.replace(/^-+/, ''), '-'));
  return [parts.filter((part) => part !== '').join('.'), digest].filter((part) => part !== '').join('-');
}
