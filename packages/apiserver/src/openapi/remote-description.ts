/** What the documents of this server take over from another one, for a group-version that an APIService sends there. */
export interface RemoteDescription {
  group: string;
  version: string;
  /** By which clients keep the v3 document. */
  hash: string;
  /** The v3 document. */
  document(): Promise<object>;
  /** Its part of v2; undefined where the other server has none. */
  swagger: SwaggerPart | undefined;
  swaggerHash: string;
}

/** Some paths of a v2 document, and the definitions that they reach. */
export interface SwaggerPart {
  paths: Record<string, unknown>;
  definitions: Record<string, unknown>;
}
