import { CERTIFICATE_SIGNING_REQUESTS, forbidden } from '@asterism/machinery';
import { SYSTEM_MASTERS } from '../contract/user-info.ts';
import { CLIENT_SIGNER } from '../pki/signer-rules.ts';
import { readSigningRequest } from '../pki/signing-request.ts';
import type { AdmissionStep } from '../contract/admission-step.ts';

/**
 * Refuses requests for a certificate of an administrator, as the group in it could not be taken back (upstream's
 * CertificateSubjectRestriction).
 *
 * @param privilegedGroups groups besides `system:masters` that no signing request may name.
 */
export function createSubjectRestriction(privilegedGroups: readonly string[] = []): AdmissionStep {
  const refused = [SYSTEM_MASTERS, ...privilegedGroups];
  return {
    phase: 'validate',
    admit: async ({ object, operation, resource, subresource, name }) => {
      const { type } = resource;
      if (operation !== 'CREATE' || subresource !== undefined) return object;
      if (
        type.group !== CERTIFICATE_SIGNING_REQUESTS.group ||
        type.resource !== CERTIFICATE_SIGNING_REQUESTS.resource
      ) {
        return object;
      }
      const { signerName, request = '' } = (object?.spec ?? {}) as { signerName?: string; request?: string };
      if (signerName !== CLIENT_SIGNER) return object;
      const { organizations } = await readSigningRequest(Buffer.from(request, 'base64').toString('utf8'));
      const group = refused.find((each) => organizations.includes(each));
      if (group === undefined) return object;
      throw forbidden(type, name, `use of ${CLIENT_SIGNER} signer with ${group} group is not allowed`);
    },
  };
}
