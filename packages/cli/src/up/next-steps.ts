import { defaultKubeconfig } from '../session.ts';
import type { UpOptions } from './up-options.ts';

/** What to try next, as commands that work when pasted. */
export function nextSteps(kubeconfig: string, { demo }: UpOptions): string {
  const kubectl = `kubectl --kubeconfig ${kubeconfig}`;
  const flag = kubeconfig === defaultKubeconfig() ? '' : ` --kubeconfig ${kubeconfig}`;
  const commands = [
    `${kubectl} get clusters`,
    ...(demo
      ? [
          `${kubectl} -n demo get deployment,propagationpolicy,resourcebinding`,
          `${kubectl} -n demo scale deployment web --replicas 10`,
          `npx aster why deploy/web -n demo${flag}`,
          `npx aster search pods -n demo${flag}`,
          `npx aster get pods -n demo -C all${flag}`,
        ]
      : [`npx aster get clusters${flag}`]),
  ];
  return `\nTry next:\n${commands.map((command) => `  ${command}\n`).join('')}Ctrl-C stops everything; started again it goes on where it was.\n\n`;
}
