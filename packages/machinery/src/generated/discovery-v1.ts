// Generated from data/kubernetes-1.36.json (v1.36.2) by generator/main.ts: do not edit, run `npm run generate`.
import type { ObjectMeta } from '../object.ts';
import type { ObjectReference } from './core-v1.ts';

export interface Endpoint {
  addresses: string[];
  conditions?: EndpointConditions;
  deprecatedTopology?: Record<string, string>;
  hints?: EndpointHints;
  hostname?: string;
  nodeName?: string;
  targetRef?: ObjectReference;
  zone?: string;
}

export interface EndpointConditions {
  ready?: boolean;
  serving?: boolean;
  terminating?: boolean;
}

export interface EndpointHints {
  forNodes?: ForNode[];
  forZones?: ForZone[];
}

export interface EndpointPortDiscovery {
  appProtocol?: string;
  name?: string;
  port?: number;
  protocol?: 'SCTP' | 'TCP' | 'UDP';
}

export type EndpointSlice = {
  addressType: 'FQDN' | 'IPv4' | 'IPv6';
  apiVersion?: string;
  endpoints?: Endpoint[];
  kind?: string;
  metadata?: ObjectMeta;
  ports?: EndpointPortDiscovery[];
};

export interface ForNode {
  name: string;
}

export interface ForZone {
  name: string;
}
