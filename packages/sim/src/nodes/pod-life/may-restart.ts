import type { Pod } from '@asterism/machinery';
import type { ContainerLife } from './container-life.ts';

/** Whether a container that has ended is started again: by its own rules, its own policy, or that of its pod. */
export function mayRestart({ kind, spec, ended }: ContainerLife, pod: Pod): boolean {
  if (kind === 'ephemeral') return false;
  if (kind === 'sidecar') return true;
  const code = ended?.exitCode ?? 0;
  const ruled = spec.restartPolicyRules?.find(({ exitCodes }) => {
    const listed = exitCodes?.values?.includes(code) === true;
    return exitCodes?.operator === 'NotIn' ? !listed : listed;
  });
  if (ruled) return true;
  const policy = spec.restartPolicy ?? pod.spec?.restartPolicy ?? 'Always';
  // An init container that has done its work is done.
  if (kind === 'init') return policy !== 'Never' && code !== 0;
  return policy === 'Always' || (policy === 'OnFailure' && code !== 0);
}
