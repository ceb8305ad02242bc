import type { ClusterPki } from './cluster-pki.ts';

/** Where a control plane listens; kept over all of its lives. */
export interface ControlPlanePorts {
  etcd: number;
  apiServer: number;
  controllerManager: number;
  scheduler: number;
}

/** What the arguments of a control plane's programs follow from. */
export interface ControlPlaneLayout {
  pki: ClusterPki;
  /** Of etcd. */
  dataDir: string;
  /** Whether etcd syncs its disk at each commit. */
  fsync: boolean;
  ports: ControlPlanePorts;
  /** Where the API server listens. */
  bindAddress: string;
  kubeconfig: { controllerManager: string; scheduler: string };
}

/** What of it those who work on objects need to know; whose the API server is, is all the same to them. */
export interface ControllerLayout extends Pick<ControlPlaneLayout, 'pki' | 'kubeconfig'> {
  ports: Pick<ControlPlanePorts, 'controllerManager' | 'scheduler'>;
}

/** An address of TEST-NET-2 (RFC 5737), as API servers refuse to advertise loopback; only a lab really has it. */
export const ADVERTISED_ADDRESS = '198.51.100.1';

export function etcdArguments({ dataDir, ports, fsync }: ControlPlaneLayout): string[] {
  const url = `http://127.0.0.1:${ports.etcd}`;
  return [
    `--data-dir=${dataDir}`,
    `--listen-client-urls=${url}`,
    `--advertise-client-urls=${url}`,
    '--listen-peer-urls=http://127.0.0.1:0',
    // What was written survives kill -9 all the same; only not a power cut.
    ...(fsync ? [] : ['--unsafe-no-fsync']),
  ];
}

/** RBAC and the Node authorizer, bootstrap tokens, an aggregator with its front proxy identity, and nodes' kubelets by certificate. */
export function apiServerArguments({ pki, ports, bindAddress }: ControlPlaneLayout): string[] {
  return [
    `--etcd-servers=http://127.0.0.1:${ports.etcd}`,
    `--bind-address=${bindAddress}`,
    `--advertise-address=${ADVERTISED_ADDRESS}`,
    `--secure-port=${ports.apiServer}`,
    '--insecure-port=0',
    '--service-cluster-ip-range=198.51.100.128/26',
    `--tls-cert-file=${pki.file('apiserver.crt')}`,
    `--tls-private-key-file=${pki.file('apiserver.key')}`,
    `--client-ca-file=${pki.file('ca.crt')}`,
    '--anonymous-auth=true',
    '--authorization-mode=Node,RBAC',
    '--enable-admission-plugins=NodeRestriction',
    '--enable-bootstrap-token-auth',
    '--service-account-issuer=https://kubernetes.default.svc',
    `--service-account-signing-key-file=${pki.file('service-account.key')}`,
    `--service-account-key-file=${pki.file('service-account.pub')}`,
    `--requestheader-client-ca-file=${pki.file('front-proxy-ca.crt')}`,
    '--requestheader-allowed-names=front-proxy-client',
    '--requestheader-username-headers=X-Remote-User',
    '--requestheader-group-headers=X-Remote-Group',
    '--requestheader-extra-headers-prefix=X-Remote-Extra-',
    `--proxy-client-cert-file=${pki.file('front-proxy-client.crt')}`,
    `--proxy-client-key-file=${pki.file('front-proxy-client.key')}`,
    `--kubelet-client-certificate=${pki.file('kubelet-client.crt')}`,
    `--kubelet-client-key=${pki.file('kubelet-client.key')}`,
    `--kubelet-certificate-authority=${pki.file('ca.crt')}`,
    '--kubelet-preferred-address-types=InternalIP',
  ];
}

export function controllerManagerArguments(
  { pki, ports, kubeconfig }: ControllerLayout,
  controllers: readonly string[],
): string[] {
  return [
    `--controllers=${controllers.join(',')}`,
    `--kubeconfig=${kubeconfig.controllerManager}`,
    `--authentication-kubeconfig=${kubeconfig.controllerManager}`,
    `--authorization-kubeconfig=${kubeconfig.controllerManager}`,
    '--bind-address=127.0.0.1',
    `--secure-port=${ports.controllerManager}`,
    '--port=0',
    '--leader-elect=false',
    '--use-service-account-credentials',
    `--root-ca-file=${pki.file('ca.crt')}`,
    `--service-account-private-key-file=${pki.file('service-account.key')}`,
    `--cluster-signing-cert-file=${pki.file('ca.crt')}`,
    `--cluster-signing-key-file=${pki.file('ca.key')}`,
  ];
}

export function schedulerArguments({ ports, kubeconfig }: ControllerLayout): string[] {
  return [
    `--kubeconfig=${kubeconfig.scheduler}`,
    `--authentication-kubeconfig=${kubeconfig.scheduler}`,
    `--authorization-kubeconfig=${kubeconfig.scheduler}`,
    '--bind-address=127.0.0.1',
    `--secure-port=${ports.scheduler}`,
    '--port=0',
    '--leader-elect=false',
  ];
}
