import { isJsonObject, type KubeObject } from '@asterism/machinery';
import { GROUP, MANAGED_LABEL } from '../../api/index.ts';
import { isReserved } from '../../template/reserved.ts';
import { pruneTemplate } from '../render/prune-template.ts';

type Fields = Record<string, unknown>;

/** Kinds of which a cluster keeps its own objects by itself. */
const KEPT_BY_CLUSTERS: ReadonlySet<string> = new Set([
  'v1 Node',
  'v1 Event',
  'v1 Endpoints',
  'events.k8s.io/v1 Event',
  'discovery.k8s.io/v1 EndpointSlice',
  'coordination.k8s.io/v1 Lease',
  'storage.k8s.io/v1 CSINode',
  'storage.k8s.io/v1 VolumeAttachment',
]);

/** Why an object that stands in a member cannot become a template; undefined where it can. */
export function whyNotPromotable(live: KubeObject): string | undefined {
  const { deletionTimestamp, ownerReferences = [] } = live.metadata ?? {};
  if (deletionTimestamp) return 'it is being deleted';
  if (isReserved(live) || KEPT_BY_CLUSTERS.has(`${live.apiVersion} ${live.kind}`)) {
    return 'every cluster has its own: no policy places it';
  }
  const controller = ownerReferences.find((owner) => owner.controller);
  return controller && `it is made by ${controller.kind} ${controller.name}: promote that`;
}

/** Which Work has placed the object; undefined where none has, as with a Namespace that was made for its content. */
export function placedBy({ metadata }: KubeObject): string | undefined {
  const label = metadata?.labels?.[MANAGED_LABEL];
  return label === 'auto' ? undefined : label;
}

/**
 * The template of an object as it stands in a member: what people have said of it, without what that cluster has added. Placed there again
 * it changes nothing.
 */
export function promotedTemplate(live: KubeObject): KubeObject {
  const pruned = pruneTemplate(live);
  const { labels, annotations, ...metadata } = pruned.metadata ?? {};
  const object: KubeObject = {
    ...pruned,
    metadata: { ...metadata, ...named('labels', labels), ...named('annotations', annotations) },
  };
  const prune = PRUNERS.get(`${live.apiVersion} ${live.kind}`);
  return prune ? { ...object, spec: prune(fieldsOf(object['spec']), live) } : object;
}

const PRUNERS: ReadonlyMap<string, (spec: Fields, live: KubeObject) => Fields> = new Map([
  ['v1 Service', serviceSpec],
  ['v1 Pod', without('nodeName')],
  ['v1 PersistentVolumeClaim', without('volumeName')],
  ['v1 PersistentVolume', volumeSpec],
]);

/**
 * Address families that nobody has asked for are the cluster's choice: the hub may not have them. Ports of the nodes are kept, whoever
 * chose them: the hub would choose others, and clients know these.
 */
function serviceSpec({ ipFamilies, ipFamilyPolicy, ...spec }: Fields, live: KubeObject): Fields {
  const asked = (field: string): boolean =>
    live.metadata?.managedFields?.some(({ fieldsV1 }) => fieldsV1?.['f:spec']?.[`f:${field}`] !== undefined) ?? false;
  return {
    ...spec,
    ...(ipFamilies !== undefined && asked('ipFamilies') ? { ipFamilies } : {}),
    ...(ipFamilyPolicy !== undefined && asked('ipFamilyPolicy') ? { ipFamilyPolicy } : {}),
  };
}

/** A spec without one field. */
function without(field: string): (spec: Fields) => Fields {
  return (spec) => Object.fromEntries(Object.entries(spec).filter(([name]) => name !== field));
}

/** A volume stays kept for its claim, whichever object bears the claim's name. */
function volumeSpec({ claimRef, ...spec }: Fields): Fields {
  if (!isJsonObject(claimRef)) return spec;
  const { uid: _, resourceVersion: __, ...ref } = claimRef;
  return { ...spec, claimRef: ref };
}

/** A map of `metadata` without what is Asterism's own; nothing where nothing is left. */
function named(field: 'labels' | 'annotations', map: Record<string, string> | undefined): Fields {
  const kept = Object.entries(map ?? {}).filter(([key]) => !isOwn(key));
  return kept.length === 0 ? {} : { [field]: Object.fromEntries(kept) };
}

function isOwn(key: string): boolean {
  const [prefix = ''] = key.split('/');
  return prefix === GROUP || prefix.endsWith(`.${GROUP}`);
}

function fieldsOf(value: unknown): Fields {
  return isJsonObject(value) ? value : {};
}
