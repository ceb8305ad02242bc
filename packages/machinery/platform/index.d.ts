// The part of machinery that depends on the platform, imported as `#platform`: node.js in Node, bundle.js in a bundle for a browser.

/** `data/kubernetes-1.36.json`: the OpenAPI v3 component schemas and the discovery of a Kubernetes 1.36 server. */
export function kubernetesFacts(): unknown;
/** `data/protobuf-1.36.json`: the protobuf messages of the built-in kinds, as a descriptor of protobufjs. */
export function protobufDescriptor(): unknown;
/** `data/table-columns-1.36.json`: the descriptions of the columns that a Kubernetes 1.36 server prints. */
export function tableColumns(): unknown;
/** Go's regular expressions. */
export function loadRe2(): typeof import('re2js');
export function toBase64(bytes: Uint8Array): string;
