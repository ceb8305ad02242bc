import type { Pod } from '@asterism/machinery';

/** A ConfigMap or Secret without which a pod cannot start. */
export interface Mount {
  kind: 'ConfigMap' | 'Secret';
  name: string;
}

/** What a pod mounts or reads its environment from, optional ones left out. */
export function requiredMounts(pod: Pod): Mount[] {
  const mounts: Mount[] = [];
  const need = (kind: Mount['kind'], name: string | undefined, optional: boolean | undefined) => {
    if (name && !optional && !mounts.some((mount) => mount.kind === kind && mount.name === name))
      mounts.push({ kind, name });
  };
  for (const { configMap, secret } of pod.spec?.volumes ?? []) {
    need('ConfigMap', configMap?.name, configMap?.optional);
    need('Secret', secret?.secretName, secret?.optional);
  }
  for (const { env = [], envFrom = [] } of pod.spec?.containers ?? []) {
    for (const { configMapRef, secretRef } of envFrom) {
      need('ConfigMap', configMapRef?.name, configMapRef?.optional);
      need('Secret', secretRef?.name, secretRef?.optional);
    }
    for (const { valueFrom } of env) {
      need('ConfigMap', valueFrom?.configMapKeyRef?.name, valueFrom?.configMapKeyRef?.optional);
      need('Secret', valueFrom?.secretKeyRef?.name, valueFrom?.secretKeyRef?.optional);
    }
  }
  return mounts;
}
