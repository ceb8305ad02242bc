export { unlessAborted } from './abort.ts';
export { checkJson, measureJson } from './bounded/check-json.ts';
export { listBytes, noteListBytes } from './bounded/list-bytes.ts';
export { ListProgress } from './bounded/list-progress.ts';
export {
  isTooLarge,
  READ_LIMIT_CODE,
  READ_REFUSALS,
  ReadLimitError,
  type Refusal,
  refuseReading,
} from './bounded/read-limit-error.ts';
export {
  LIST_LIMITS,
  type ListLimits,
  READ_BUDGET_BYTES,
  READ_LIMITS,
  type ReadLimits,
  TRUSTED_SERVER,
} from './bounded/read-limits.ts';
export { withBasePath } from './base-path.ts';
export { endToEndHeaders } from './end-to-end-headers.ts';
export { type Client, type ClientOptions, createClient, type GetJsonOptions, type ServerVersion } from './client.ts';
export { ClientError } from './client-error.ts';
export { type Clock, completeClock, sleep, systemClock, wallNow } from './clock.ts';
export { keepRenewed, type KeepRenewedOptions, type Validity } from './keep-renewed.ts';
export { Refusals } from './refusals.ts';
export {
  type ClientCertificate,
  clientCertificate,
  type Connection,
  type Credential,
  type Impersonation,
} from './connection.ts';
export { cutManagedFields } from './cut-managed-fields.ts';
export type { DiscoveredResource, DiscoveredSubresource, Discovery } from './discover/discovery.ts';
export { createTransport, type HttpTransport, type TransportOptions } from './http/http-transport.ts';
export { isUnknownAuthority } from './http/network-error.ts';
export { encodeHeaderText } from './header-text.ts';
export {
  claimsIdentity,
  identityFault,
  identityHeaders,
  type IdentityPrefix,
  readExtraKey,
  readIdentityHeader,
} from './identity-headers.ts';
export { trustAnchors, type TrustAnchors, trustAnchorsOnServer } from './http/trust-anchors.ts';
export { connectionFromKubeconfig } from './kubeconfig/connection-from-kubeconfig.ts';
export { ExecCredentialCache } from './kubeconfig/exec-credential.ts';
export { editKubeconfig, type KubeconfigEdit } from './kubeconfig/edit-kubeconfig.ts';
export { inClusterConnection, type InClusterOptions } from './kubeconfig/in-cluster.ts';
export {
  type ExecConfig,
  type Kubeconfig,
  type KubeconfigCluster,
  type KubeconfigContext,
  kubeconfigPaths,
  type KubeconfigUser,
  loadKubeconfig,
  parseKubeconfig,
} from './kubeconfig/kubeconfig.ts';
export { rewriteKubeconfig } from './kubeconfig/rewrite-kubeconfig.ts';
export { LineStream, type LineStreamOptions } from './line-stream.ts';
export { readBody, type ReadBodyOptions, readLines, readStart } from './read-body.ts';
export { connectThroughProxy, type ProxyDialOptions } from './proxy/connect-through-proxy.ts';
export { parseProxyUrl, type ProxyAddress } from './proxy/parse-proxy-url.ts';
export { type Environment, proxyFromEnvironment, withEnvironmentProxy } from './proxy/proxy-from-environment.ts';
export {
  type RelayedAnswer,
  relayedAnswer,
  relayedHeaders,
  relayedSwitch,
  type RelayOptions,
} from './relayed-answer.ts';
export type {
  ApplyOptions,
  CreateOptions,
  DeleteCollectionOptions,
  DeleteOptions,
  EventStream,
  GetOptions,
  ListOptions,
  ObjectRef,
  Patch,
  PatchKind,
  PatchOptions,
  ReadOptions,
  ResourceClient,
  Selectors,
  UpdateOptions,
  WatchOptions,
  WriteOptions,
} from './resource-client.ts';
export { compareResourceVersions } from './resource-version.ts';
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
export {
  type ForwardedConnection,
  openPortForward,
  type PortForward,
  type PortForwardRequest,
} from './streams/open-port-forward.ts';
export { type ObjectIdentity, type ReadObject, type ReadObjectOptions, SubtreePool } from './subtree-pool.ts';
export { headerDictionary } from './spdy/header-dictionary.ts';
export { SpdyConnection, type SpdyConnectionOptions } from './spdy/spdy-connection.ts';
export { SpdyStream } from './spdy/spdy-stream.ts';
export { tapBytes } from './tap-bytes.ts';
export type { Headers, Transport, TransportRequest, TransportResponse, UpgradeResponse } from './transport.ts';
export { WebSocketChannels } from './websocket/websocket-channels.ts';
export { WebSocketTunnel } from './websocket/websocket-tunnel.ts';
export {
  type PeerClose,
  WebSocketConnection,
  type WebSocketConnectionOptions,
} from './websocket/websocket-connection.ts';
export {
  CLOSE,
  encodeFrame,
  type MessagePiece,
  OPCODE,
  WebSocketProtocolError,
  type WebSocketRole,
} from './websocket/websocket-frames.ts';
export { answerWebSocket, isWebSocketRequest, requestWebSocket } from './websocket/websocket-handshake.ts';
