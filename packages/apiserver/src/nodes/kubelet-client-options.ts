/** How the server reaches kubelets, as kube-apiserver's `--kubelet-*` flags say it. */
export interface KubeletClientOptions {
  /** By which kubelets know this server (PEM). */
  clientCertificate?: { cert: string; key: string };
  /** PEM: of the kubelets' serving certificates. Required, unless they are not to be checked. */
  ca?: string;
  /** Leaves their certificates unchecked. */
  insecureSkipTlsVerify?: boolean;
  /** The first of these that a Node has is called. Default upstream's: its hostname before anything else. */
  preferredAddressTypes?: readonly NodeAddressType[];
}

export type NodeAddressType = 'Hostname' | 'InternalDNS' | 'InternalIP' | 'ExternalDNS' | 'ExternalIP';

/**
 * Where an address in the cluster's network (a pod's) is reached from here: `direct`, or as this says, for servers that are not
 * in it.
 */
export type PodNetwork = 'direct' | ((address: NetworkAddress) => NetworkAddress | Promise<NetworkAddress>);

export interface NetworkAddress {
  host: string;
  port: number;
}
