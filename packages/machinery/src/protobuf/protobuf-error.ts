/** A body that is no protobuf object, or an object that has no message; in the words of a kube-apiserver. */
export class ProtobufError extends Error {
  override readonly name = 'ProtobufError';
  /** What the object is said to be, where it is only its content that cannot be read. */
  readonly kind: { version: string; kind: string } | undefined;

  constructor(message: string, options: ErrorOptions & { kind?: ProtobufError['kind'] } = {}) {
    super(message, options);
    this.kind = options.kind;
  }
}
