import type { KubeObject } from '@asterism/machinery';
import { type Fields, listAt, optionalFields } from '../fields/draft-fields.ts';
import type { Conversion } from '../../contract/conversion.ts';

const HOSTNAME = 'kubernetes.io/hostname';
const ZONE = 'topology.kubernetes.io/zone';

/** discovery.k8s.io/v1beta1, where the node and the zone of an endpoint are labels of its topology. */
export const endpointSliceV1Beta1: Conversion = {
  fromStorage: (object) => converted(object, 'discovery.k8s.io/v1beta1', toTopology),
  toStorage: (object) => converted(object, 'discovery.k8s.io/v1', fromTopology),
};

function converted(object: KubeObject, apiVersion: string, convert: (endpoint: Fields) => Fields): KubeObject {
  if (!Array.isArray(object.endpoints)) return { ...object, apiVersion };
  return { ...object, apiVersion, endpoints: listAt(object, 'endpoints').map(convert) };
}

function toTopology({ deprecatedTopology, zone, ...endpoint }: Fields): Fields {
  const topology = {
    ...(deprecatedTopology as Fields | undefined),
    ...(zone === undefined ? {} : { [ZONE]: zone }),
    ...(endpoint.nodeName === undefined ? {} : { [HOSTNAME]: endpoint.nodeName }),
  };
  return { ...endpoint, ...(Object.keys(topology).length > 0 ? { topology } : {}) };
}

function fromTopology(given: Fields): Fields {
  const { topology: _, ...endpoint } = given;
  const { [ZONE]: zone, [HOSTNAME]: hostname, ...rest } = optionalFields(given, 'topology') ?? {};
  const nodeName = endpoint.nodeName ?? hostname;
  return {
    ...endpoint,
    ...(nodeName === undefined ? {} : { nodeName }),
    ...(zone === undefined ? {} : { zone }),
    ...(Object.keys(rest).length > 0 ? { deprecatedTopology: rest } : {}),
  };
}
