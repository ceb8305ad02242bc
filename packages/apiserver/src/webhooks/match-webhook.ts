import {
  forbidden,
  type GroupVersionKind,
  type KubeObject,
  type LabelRequirement,
  matchesLabels,
  NAMESPACES,
  notFound,
  type StatusError,
} from '@asterism/machinery';
import type { Catalogue } from '../registry/catalogue.ts';
import type { ServedVersion } from '../registry/served-version.ts';
import type { ObjectStore } from '../storage/object-store.ts';
import type { AdmissionAttributes } from '../registry/admission-attributes.ts';
import { kindOf } from '../registry/kind-of.ts';
import { matchesRule } from './match-rule.ts';
import type { Webhook } from './webhook-configurations.ts';

/** A webhook that is to be asked about a request, and as what. */
export interface Invocation {
  webhook: Webhook;
  /** The resource that the webhook's rule named: that of the request, or another version of the same. */
  resource: ServedVersion;
  kind: GroupVersionKind;
}

export interface Surroundings {
  store: ObjectStore;
  catalogue: Catalogue;
}

/**
 * Whether the selectors and rules of a webhook are about a request; its match conditions are not looked at. Throws where that
 * cannot be known: the namespace, by whose labels it is chosen, is not there.
 */
export function matchWebhook(
  webhook: Webhook,
  request: AdmissionAttributes,
  surroundings: Surroundings,
): Invocation | undefined {
  const inNamespace = matchesNamespace(webhook.namespaceSelector, request, surroundings.store);
  if (inNamespace === false) return undefined;
  if (!matchesObject(webhook.objectSelector, request)) return undefined;
  const invocation = findInvocation(webhook, request, surroundings.catalogue);
  if (invocation && inNamespace !== true) throw inNamespace;
  return invocation;
}

function findInvocation(webhook: Webhook, request: AdmissionAttributes, catalogue: Catalogue): Invocation | undefined {
  const { resource, kind, subresource } = request;
  if (webhook.rules.some((rule) => matchesRule(rule, resource.type, request))) return { webhook, resource, kind };
  if (!webhook.matchEquivalent) return undefined;
  const others = catalogue
    .equivalents(resource)
    .filter((other) => subresource === '' || other.hasSubresource(subresource));
  for (const rule of webhook.rules) {
    const other = others.find(({ type }) => matchesRule(rule, type, request));
    if (other) return { webhook, resource: other, kind: kindOf(other, subresource) };
  }
  return undefined;
}

/** An error where the namespace is not there: it counts only if the webhook is about the request at all. */
function matchesNamespace(
  selector: readonly LabelRequirement[],
  { namespace, resource, subresource, operation, object }: AdmissionAttributes,
  store: ObjectStore,
): boolean | StatusError {
  const isNamespace = resource.type.group === '' && resource.type.resource === 'namespaces';
  if (selector.length === 0 || (namespace === '' && !isNamespace)) return true;
  if (isNamespace && subresource === '' && (operation === 'CREATE' || operation === 'UPDATE')) {
    return matchesLabels(selector, object?.metadata?.labels);
  }
  const found = store.get('namespaces', undefined, namespace)?.parse();
  return found ? matchesLabels(selector, found.metadata?.labels) : notFound(NAMESPACES, namespace);
}

/** Either the object as it shall be or as it was. */
function matchesObject(selector: readonly LabelRequirement[], { object, oldObject }: AdmissionAttributes): boolean {
  if (selector.length === 0) return true;
  return [object, oldObject].some((each) => hasMetadata(each) && matchesLabels(selector, each.metadata?.labels));
}

/** What a connection is asked for with has no metadata, and so no labels that could be right. */
function hasMetadata(object: KubeObject | undefined): object is KubeObject {
  return object?.metadata !== undefined;
}

/** 403: the conditions of a webhook that must be asked could not be evaluated. */
export function conditionsFailed({ resource, name }: AdmissionAttributes, why: string): StatusError {
  return forbidden(resource.type, name, why);
}
