import { SYSTEM_NAMESPACE } from '@asterism/fleet/api';
import { hubManifests, type HubManifestsOptions, memberManifests } from '@asterism/fleet/join';
import type { KubeObject } from '@asterism/machinery';
import { EXIT } from '../exit-code.ts';
import type { Terminal } from '../output/terminal.ts';
import { noteNamespaces, type PermissionFlags, parsePermissions } from '../service/permission-flags.ts';
import type { SyncMode } from '../service/sync-mode.ts';

/** `aster agent manifests`: what must stand in a member before its agent starts. */
export async function printMemberManifests(
  flags: PermissionFlags & { mode: SyncMode },
  terminal: Terminal,
): Promise<number> {
  const permissions = parsePermissions(flags);
  noteNamespaces(permissions, terminal);
  terminal.out(await documents(memberManifests({ syncMode: flags.mode, permissions })));
  return EXIT.fine;
}

/** Not the account `asterism-hub`: that is a hub's in a member, and the cluster may be one too. */
const HUB_ACCOUNT = { namespace: SYSTEM_NAMESPACE, name: 'asterism-hub-host' };

/** `aster hub manifests`: what must stand in the cluster that a hub runs on. */
export async function printHubManifests(
  templates: HubManifestsOptions['templates'],
  terminal: Terminal,
): Promise<number> {
  terminal.out(await documents(hubManifests({ templates, account: HUB_ACCOUNT })));
  return EXIT.fine;
}

/** One YAML document an object, as `kubectl apply -f -` takes them. */
export async function documents(objects: readonly KubeObject[]): Promise<string> {
  const { toYaml } = await import('../output/yaml.ts');
  return objects.map((object) => toYaml(object)).join('---\n');
}
