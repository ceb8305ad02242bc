import { isSystemNamespace, type PermissionProfile, type Permissions } from '@asterism/fleet/join';
import { CommandError, EXIT } from '../exit-code.ts';
import type { Terminal } from '../output/terminal.ts';

/** The flags that say how much the account that acts in a member may do there. */
export interface PermissionFlags {
  permissions?: PermissionProfile;
  namespaces?: string;
  callers?: string;
  callerGroups?: string;
}

const NAMESPACE = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;

/** Undefined if no profile is given. Throws as wrong usage, and names the flag. */
export function parsePermissions({
  permissions,
  namespaces,
  callers,
  callerGroups,
}: PermissionFlags): Permissions | undefined {
  const narrowing = { '--namespaces': namespaces, '--callers': callers, '--caller-groups': callerGroups };
  const [given] = Object.entries(narrowing).flatMap(([flag, value]) => (value === undefined ? [] : [flag]));
  if (given !== undefined && permissions !== 'workloads') {
    throw new CommandError(`${given} requires --permissions workloads`, EXIT.usage);
  }
  if (permissions === undefined) return undefined;
  if (permissions !== 'workloads') return { profile: permissions };
  return {
    profile: permissions,
    ...(namespaces === undefined ? {} : { namespaces: parseNamespaces(namespaces) }),
    ...(callers === undefined && callerGroups === undefined
      ? {}
      : {
          callers: {
            users: parseCallers('--callers', callers),
            groups: parseCallers('--caller-groups', callerGroups),
          },
        }),
  };
}

function parseNamespaces(text: string): string[] {
  const names = listed(text);
  const fault = names.find((name) => !NAMESPACE.test(name));
  if (fault !== undefined) {
    throw new CommandError(`--namespaces: ${JSON.stringify(fault)} is not the name of a namespace`, EXIT.usage);
  }
  const ofSystem = names.find(isSystemNamespace);
  if (ofSystem === undefined) return names;
  throw new CommandError(
    `--namespaces: ${ofSystem} cannot be listed: a pod there can act as the accounts of the cluster's own controllers. ` +
      'To write there, use --permissions platform',
    EXIT.usage,
  );
}

function parseCallers(flag: string, text: string | undefined): string[] {
  const names = text === undefined ? [] : listed(text);
  const fault = names.find((name) => name === '' || name.startsWith('system:'));
  if (fault === undefined) return names;
  throw new CommandError(
    `${flag}: ${JSON.stringify(fault)} cannot be a caller: names of the system never are`,
    EXIT.usage,
  );
}

const listed = (text: string): string[] => text.split(',').map((name) => name.trim());

/** Printed manifests cannot know which namespaces a cluster has. */
export function noteNamespaces(permissions: Permissions | undefined, terminal: Pick<Terminal, 'err'>): void {
  if (permissions?.profile !== 'workloads' || permissions.namespaces) return;
  terminal.err(
    'The account may write the namespace "default" alone. To let it write others, list them: --namespaces a,b\n',
  );
}
