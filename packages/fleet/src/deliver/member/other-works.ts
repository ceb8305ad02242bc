import { failure, type KubeObject, parseApiVersion } from '@asterism/machinery';
import type { Work } from '../../api/index.ts';
import { managedLabelValue } from '../../template/binding-name.ts';
import { DISPATCHING_SUSPENDED } from '../works/suspended.ts';
import type { Works } from '../works/works.ts';
import type { EstablishedKind } from './established-kind.ts';
import type { Marking } from './member-objects.ts';

/** The label by which objects in the member say whose they are. */
export function labelOf({ metadata }: Work): string {
  return managedLabelValue(metadata.name ?? '');
}

/** The name of the other Work of the cluster that the label on an object speaks of. */
export function ownerOf(works: Works, label: string, work: Work): string | undefined {
  const bearers = works.ofManagedLabel(work.metadata.namespace ?? '', label);
  return bearers.find((other) => other !== work)?.metadata.name;
}

/** How the objects of a Work are made its own. */
export function markingOf(works: Works, work: Work): Marking {
  const others = (): Work[] => works.inNamespace(work.metadata.namespace ?? '');
  const { namespaceLabels } = work.spec;
  return { label: labelOf(work), namespaceLabels, namespaceSource: (name) => namespaceSource(others(), name) };
}

/** What makes this Namespace of its own in the cluster, where something does. Throws where that is held back. */
export function namespaceSource(
  works: readonly Work[],
  name: string,
): { manifest: KubeObject; label: string } | undefined {
  for (const work of works) {
    if (work.metadata.deletionTimestamp) continue;
    const manifest = work.spec.manifests.find(
      ({ apiVersion, kind, metadata }) => apiVersion === 'v1' && kind === 'Namespace' && metadata?.name === name,
    );
    if (!manifest) continue;
    if (!work.spec.suspendDispatching) return { manifest, label: labelOf(work) };
    throw failure(409, `Namespace ${name} is not there, and ${DISPATCHING_SUSPENDED}`);
  }
  return undefined;
}

/** Works that have an object of the kind. */
export function worksOfKind(works: readonly Work[], { group, kind }: EstablishedKind): Work[] {
  const isOf = (manifest: KubeObject): boolean =>
    manifest.kind === kind && parseApiVersion(manifest.apiVersion ?? '').group === group;
  return works.filter(({ spec }) => spec.manifests.some(isOf));
}
