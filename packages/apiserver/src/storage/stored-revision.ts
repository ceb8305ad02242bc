/** As `encodeObject` writes it. */
const RESOURCE_VERSION = '"resourceVersion":"';

/** The resourceVersion that `encodeObject` wrote into `bytes`, without parsing them. */
export function revisionOf(bytes: Buffer): number {
  const start = bytes.indexOf(RESOURCE_VERSION) + RESOURCE_VERSION.length;
  return Number(bytes.toString('latin1', start, bytes.indexOf('"', start)));
}
