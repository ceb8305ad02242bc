export { unlessAborted } from './abort.ts';
export { checkJson, measureJson } from './bounded/check-json.ts';
export { listBytes, noteListBytes } from './bounded/list-bytes.ts';
export { ListProgress } from './bounded/list-progress.ts';
export { ReadBudget, type ReadLease } from './bounded/read-budget.ts';
export * from './bounded/read-limit-error.ts';
export * from './bounded/read-limits.ts';
export { withBasePath } from './base-path.ts';
export * from './end-to-end-headers.ts';
export * from './client.ts';
export * from './client-error.ts';
export * from './clock.ts';
export * from './keep-renewed.ts';
export * from './refusals.ts';
export * from './connection.ts';
export { cutManagedFields, type JsonShape } from './cut-managed-fields.ts';
export * from './discover/discovery.ts';
export { createTransport, type HttpTransport, type TransportOptions } from './http/http-transport.ts';
export { isUnknownAuthority } from './http/network-error.ts';
export { decodeHeaderText, encodeHeaderText } from './header-text.ts';
export * from './identity-headers.ts';
export { trustAnchors, type TrustAnchors, trustAnchorsOnServer } from './http/trust-anchors.ts';
export * from './kubeconfig/connection-from-kubeconfig.ts';
export { ExecCredentialCache } from './kubeconfig/exec-credential.ts';
export * from './kubeconfig/edit-kubeconfig.ts';
export * from './kubeconfig/in-cluster.ts';
export * from './kubeconfig/kubeconfig.ts';
export { rewriteKubeconfig } from './kubeconfig/rewrite-kubeconfig.ts';
export { LineStream, type LineStreamOptions } from './line-stream.ts';
export { readBody, type ReadBodyOptions, readLines, readStart } from './read-body.ts';
export { connectThroughProxy, type ProxyDialOptions } from './proxy/connect-through-proxy.ts';
export * from './proxy/parse-proxy-url.ts';
export * from './proxy/proxy-from-environment.ts';
export * from './relayed-answer.ts';
export * from './resource-client.ts';
export * from './resource-version.ts';
export { responseError } from './response-error.ts';
export type {
  AttachRequest,
  CommandStream,
  ContainerAddress,
  ExecRequest,
  TerminalSize,
  WantedStreams,
} from './streams/command-stream.ts';
export { openAttach, openExec } from './streams/open-command.ts';
export * from './streams/open-port-forward.ts';
export { type ObjectIdentity, type ReadObject, type ReadObjectOptions, SubtreePool } from './subtree-pool.ts';
export { headerDictionary } from './spdy/header-dictionary.ts';
export { SpdyConnection, type SpdyConnectionOptions } from './spdy/spdy-connection.ts';
export { type ResetMeans, SpdyStream } from './spdy/spdy-stream.ts';
export { type BytesTap, tapBytes } from './tap-bytes.ts';
export * from './transport.ts';
export { WebSocketChannels } from './websocket/websocket-channels.ts';
export { WebSocketTunnel } from './websocket/websocket-tunnel.ts';
export { TransportWriter } from './websocket/transport-writer.ts';
export * from './websocket/websocket-connection.ts';
export * from './websocket/websocket-frames.ts';
export * from './websocket/websocket-handshake.ts';
