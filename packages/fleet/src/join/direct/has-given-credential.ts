import { type Cluster, CREDENTIAL_ANNOTATION, GIVEN_CREDENTIAL } from '../../api/index.ts';

/** Whether the hub comes to a cluster by a credential that a person gave it: nothing is made there for it, and none is renewed. */
export function hasGivenCredential({ metadata }: Cluster): boolean {
  return metadata.annotations?.[CREDENTIAL_ANNOTATION] === GIVEN_CREDENTIAL;
}
