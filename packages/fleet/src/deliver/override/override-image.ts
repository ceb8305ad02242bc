import {
  type JsonPatchOperation,
  type KubeObject,
  parseJsonPointer,
  type Steps,
  valueAtPointer,
} from '@asterism/machinery';
import type { Overriders } from '../../api/index.ts';
import { containersOf } from './containers.ts';
import { formatImage, type Image, isImage, parseImage, versionOf, withVersion } from './image.ts';
import { changed, failed, noEffect, type OverrideStep, patch } from './override-step.ts';

type ImageOverrider = NonNullable<Overriders['imageOverrider']>[number];

/**
 * Changes one part of the image at the predicate's path, or of every container, init containers included, of any kind that runs
 * pods. What would be no image any more is a fault.
 */
export function* overrideImages(object: KubeObject, overrider: ImageOverrider): Steps<OverrideStep> {
  const { component, operator, value, predicate, initContainers = true } = overrider;
  if (operator !== 'remove' && !value) return failed(object, `${operator} ${component} has no value`);
  if (predicate) return yield* overrideImageAt(object, predicate.path, overrider);
  const containers = containersOf(object).filter(({ isInit }) => initContainers || !isInit);
  const withImage = containers.filter(({ image }) => image !== '');
  if (withImage.length === 0) return noEffect(object, 'the object has no containers with an image');
  const operations: JsonPatchOperation[] = [];
  const faults: string[] = [];
  for (const { name, pointer, image } of withImage) {
    const text = formatImage(overrideImage(parseImage(image), overrider));
    if (isImage(image) && !isImage(text))
      faults.push(`what ${operator} ${component} makes of container ${name} is no image`);
    else if (text !== image) operations.push({ op: 'replace', path: `${pointer}/image`, value: text });
  }
  return faults.length > 0 ? failed(object, ...faults) : changed(object, yield* patch(object, operations));
}

function* overrideImageAt(object: KubeObject, path: string, overrider: ImageOverrider): Steps<OverrideStep> {
  const tokens = parseJsonPointer(path);
  const image = tokens && valueAtPointer(object, tokens);
  if (typeof image !== 'string') return failed(object, `there is no image at ${path}`);
  const value = formatImage(overrideImage(parseImage(image), overrider));
  if (isImage(image) && !isImage(value)) {
    return failed(object, `what ${overrider.operator} ${overrider.component} makes of ${path} is no image`);
  }
  return changed(object, yield* patch(object, [{ op: 'replace', path, value }]));
}

function overrideImage(image: Image, { component, operator, value = '' }: ImageOverrider): Image {
  const revise = (present: string) => (operator === 'add' ? present + value : operator === 'replace' ? value : '');
  switch (component) {
    case 'Registry':
      return { ...image, registry: revise(image.registry) };
    case 'Repository':
      return { ...image, repository: revise(image.repository) };
    case 'Tag':
      return withVersion(image, revise(versionOf(image)));
    case 'Digest':
      return { ...image, digest: revise(image.digest) };
  }
}
