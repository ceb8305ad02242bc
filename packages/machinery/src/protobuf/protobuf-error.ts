/** A body that is no protobuf object, or an object that has no message; in the words of a kube-apiserver. */
export class ProtobufError extends Error {
  override readonly name = 'ProtobufError';
}
