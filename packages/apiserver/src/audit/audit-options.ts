/** Who did what, as upstream's `--audit-*` flags have it written down. Give `log`, `sink` or both. */
export interface AuditOptions {
  /** An `audit.k8s.io/v1` Policy, or the content of a file that holds one (YAML or JSON). */
  policy: string | object;
  log?: AuditLogOptions;
  /**
   * Called with the events that have come since the last call: each a JSON text without a line break. The next call waits for the
   * promise; where it rejects, its events are lost and counted, and requests go on.
   */
  sink?: (events: readonly string[]) => void | Promise<void>;
}

/** A file of JSON lines, readable by its owner alone. */
export interface AuditLogOptions {
  /** Its folder is made where it is missing. `-`: standard output, never rotated. */
  path: string;
  /** Megabytes (of 1,048,576 bytes) after which it is renamed, with the time in its name, and begun anew. Default 100. */
  maxSize?: number;
  /** Days after which renamed files are deleted. Default: never. */
  maxAge?: number;
  /** How many renamed files are kept. Default: all. */
  maxBackups?: number;
}
