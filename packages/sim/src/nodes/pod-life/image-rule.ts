const REFERENCE =
  /^[a-z0-9]+(?:[._-]+[a-z0-9]+)*(?::\d+)?(?:\/[a-z0-9]+(?:[._-]+[a-z0-9]+)*)*(?::([\w][\w.-]{0,127}))?(?:@sha256:[0-9a-f]{64})?$/;
const NO_TAGS: ReadonlySet<string> = new Set(['missing', 'nonexistent', 'does-not-exist']);
/** Images whose entry point is a shell. */
const SHELLS: ReadonlySet<string> = new Set(['alpine', 'bash', 'busybox', 'debian', 'fedora', 'ubuntu']);

export interface ImageFault {
  /** Of the container that waits for it. */
  reason: 'InvalidImageName' | 'ErrImagePull';
  message: string;
}

/**
 * Why an image cannot be had. Every image is there, but those of a registry below `.invalid` (RFC 2606), those with the tag
 * `missing`, `nonexistent` or `does-not-exist`, and those whose name is none.
 */
export function imageFault(image: string): ImageFault | undefined {
  const match = REFERENCE.exec(image);
  if (!match) {
    const message = `Failed to apply default image tag "${image}": couldn't parse image name "${image}": invalid reference format`;
    return { reason: 'InvalidImageName', message };
  }
  const pull = `failed to pull and unpack image "${image}": failed to resolve reference "${image}"`;
  const [host = ''] = image.split(/[:/]/);
  if (image.includes('/') && host.endsWith('.invalid')) {
    return { reason: 'ErrImagePull', message: `${pull}: dial tcp: lookup ${host}: no such host` };
  }
  if (NO_TAGS.has(match[1] ?? '')) return { reason: 'ErrImagePull', message: `${pull}: ${image}: not found` };
  return undefined;
}

/** What an image runs when nothing is said: a shell, or something of its own (empty). */
export function imageCommand(image: string): readonly string[] {
  const name = image.replace(/^.*\//, '').replace(/[:@].*/s, '');
  return SHELLS.has(name) ? ['sh'] : [];
}
