import type { Transport } from '@asterism/client';
import type { ApiExtension, ExtensionContext, ExtensionResource } from '../http/extension/api-extension.ts';
import type { ApiResponse } from '../contract/api-request.ts';

/** A resource of the other server, as discovery and OpenAPI shall name it here. */
export type ForwardedResource = Omit<ExtensionResource, 'authorization' | 'handle' | 'upgrade'>;

export interface ForwardGroupVersionOptions {
  group: string;
  version: string;
  /** To the other server, as an identity that may impersonate every caller there. Not closed with the server. */
  transport: Transport;
  resources: readonly ForwardedResource[];
  /**
   * Called before an object is sent that may be a new one (POST, PUT, server-side apply), if its caller may create it: to make
   * sure there of what it needs, such as its namespace. `context.request.query` says whether it is a dry run. When it rejects,
   * so does the request.
   */
  beforeCreate?(context: ExtensionContext): Promise<void>;
}

/**
 * Passes a whole group-version on to another API server, as the caller: verbs, watches, Tables, protobuf, patches, warnings and
 * refusals are that server's, and so is the decision who may do what.
 *
 * Callers keep their names and groups, `system:masters` too. So this is for servers with `delegation` to that same API server
 * alone, where everybody is who he is there: a server refuses it otherwise. The caller's credentials stay behind; a name that
 * does not survive as a header is refused (F1 in `callerHeaders`).
 */
export function forwardGroupVersion(options: ForwardGroupVersionOptions): ApiExtension {
  const { group, version, resources } = options;
  const handle = async (context: ExtensionContext): Promise<ApiResponse> => {
    // Most servers pass nothing on: what it takes is loaded with the first request.
    const { forwardRequest } = await import('./forward-request.ts');
    return await forwardRequest(context, options);
  };
  return {
    group,
    version,
    actsAsCaller: true,
    resources: resources.map((resource) => ({ ...resource, authorization: 'handler', handle })),
  };
}
