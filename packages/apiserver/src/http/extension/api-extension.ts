import type { Duplex } from 'node:stream';
import type { OpenApiSchema } from '@asterism/machinery';
import type { UserInfo } from '../../contract/user-info.ts';
import type { AuthorizationAttributes, AuthorizationDecision } from '../../contract/authorizer.ts';
import type { ApiRequest, ApiResponse } from '../../contract/api-request.ts';

/**
 * A group-version that code serves instead of the registry: proxies, searches, computed objects. It stands in discovery
 * like any other. One group-version is either registry (built-in, CRD) or extension.
 */
export interface ApiExtension {
  group: string;
  version: string;
  resources: ExtensionResource[];
  /**
   * It speaks in its callers' names to the API server that the server's `delegation` asks who they are. A server whose callers
   * are known to nobody else does not take it.
   */
  actsAsCaller?: boolean;
}

export interface ExtensionResource {
  resource: string;
  singular: string;
  kind: string;
  namespaced: boolean;
  verbs: string[];
  shortNames?: string[];
  categories?: string[];
  subresources?: { name: string; kind: string; verbs: string[] }[];
  /** Of one object, structural, for `kubectl explain` and OpenAPI; without it anything may be in one. */
  schema?: OpenApiSchema;
  /**
   * `rbac`: the server checks the verb on resource/subresource and name before it calls the handler.
   * `handler`: the handler asks {@link ExtensionContext.authorize} itself, for what it alone knows.
   */
  authorization: 'rbac' | 'handler';
  /** Answers everything below `/apis/GROUP/VERSION/[namespaces/NS/]RESOURCE`. */
  handle(context: ExtensionContext): Promise<ApiResponse>;
  /**
   * Takes over an HTTP/1.1 connection that asked for an Upgrade. The handler writes the 101, or a refusal, itself.
   * `head` are bytes that came behind the request.
   */
  upgrade?(context: ExtensionContext, socket: Duplex, head: Buffer): Promise<void>;
  /** Its upgrades tell {@link ExtensionContext.audit} themselves what was answered, and when they ended. */
  auditsUpgrades?: true;
  /** Told of a call that authorization refuses, before it is answered. */
  refused?(context: ExtensionContext, reason: string): void;
}

/**
 * What a handler adds to the audit events of its call. The policy decides whether there are any; none of it is ever a secret.
 */
export interface AuditedCall {
  /** Keys as annotations have them (`example.org/name`). What is said first stands. */
  annotate(annotations: Readonly<Record<string, string>>): void;
  /** Asked once, when the call has ended. */
  annotateAtEnd(annotations: () => Readonly<Record<string, string>>): void;
  /** It ends soon, whatever its resource is: there is one event of it, and none of its start. */
  endsSoon(): void;
  /** Of an upgrade, where `auditsUpgrades`: it was answered with this status. */
  started(status: number): void;
  /** Of an upgrade, where `auditsUpgrades`: nothing more comes. */
  ended(): void;
}

/**
 * Code behind a subresource of a registry's resource that is a connection and not an object: `pods/log`, `pods/exec`,
 * `services/proxy`. The server checks the verb on it first.
 */
export interface ConnectHandler extends Pick<ExtensionResource, 'handle' | 'upgrade'> {
  group: string;
  resource: string;
  subresource: string;
}

export interface ExtensionContext {
  request: ApiRequest;
  user: UserInfo;
  namespace?: string;
  name?: string;
  resource: string;
  subresource?: string;
  /** The path after name and subresource: '' or '/…', percent-encoded as it came. */
  rest: string;
  /** The Kubernetes verb (`get`, `list`, `create`, …) of the request. */
  verb: string;
  /** Undefined where nothing of this call is written down. */
  audit?: AuditedCall | undefined;
  /** Asks whether this user may do something else; `user` may be left out. */
  authorize(attributes: Omit<AuthorizationAttributes, 'user'> & { user?: UserInfo }): Promise<AuthorizationDecision>;
}
