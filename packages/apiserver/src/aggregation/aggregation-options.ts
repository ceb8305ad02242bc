/** How servers that an APIService names are reached. */
export interface AggregationOptions {
  /**
   * By which this server proves to those behind it that it may name callers to them (PEM), as kube-apiserver's
   * `--proxy-client-*` flags. Without it they get the callers' names from nobody, and take all for anonymous.
   */
  proxyClient?: {
    cert: string;
    key: string;
    /** The authority of `cert`, told to servers behind this one in `kube-system/extension-apiserver-authentication`. */
    ca?: string;
  };
  /**
   * Where a Service of type ClusterIP is called: at its cluster address (default), or at one of its ready endpoints, as
   * kube-apiserver does with `--enable-aggregator-routing`.
   */
  routing?: 'clusterIP' | 'endpoints';
  /**
   * Where a service is, for servers that are not in the cluster's network; asked for each request. Undefined leaves it to
   * `routing`. Neither the Service nor its endpoints need to exist where this gives an address.
   */
  resolve?(service: ServiceAt): ServiceAddress | undefined | Promise<ServiceAddress | undefined>;
}

export interface ServiceAt {
  namespace: string;
  name: string;
  port: number;
}

export interface ServiceAddress {
  host: string;
  port: number;
}
