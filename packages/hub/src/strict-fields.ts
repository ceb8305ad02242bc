import { Readable } from 'node:stream';
import type { ApiRequest, ExtensionContext, ExtensionResource } from '@asterism/apiserver';
import {
  applyMergePatch,
  badRequest,
  customResourceSchema,
  findUnknownFields,
  type OpenApiSchema,
  parseJson,
  type StructuralSchema,
} from '@asterism/machinery';

/** Bodies that are an object, or the part of one that changes. A host checks an apply against the schema itself. */
const CHECKED = new Set(['', 'application/json', 'application/merge-patch+json']);

/**
 * The same resource, which refuses (400) an object with a field that its schema does not know, where the caller asks for that
 * (`fieldValidation=Strict`, as kubectl does): a kube-apiserver before 1.25 does not know the parameter, and would drop the
 * field without a word.
 */
export function withStrictFields(resource: ExtensionResource, openApiSchema: OpenApiSchema): ExtensionResource {
  const schema = customResourceSchema(openApiSchema);
  return {
    ...resource,
    handle: async (context) => {
      const asked = context.request.query.get('fieldValidation') === 'Strict';
      return resource.handle(asked && isChecked(context) ? await checked(context, resource.kind, schema) : context);
    },
  };
}

function isChecked({ verb, request: { headers } }: ExtensionContext): boolean {
  const [type = ''] = String(headers['content-type'] ?? '').split(';');
  const writes = verb === 'create' || verb === 'update' || verb === 'patch';
  return writes && CHECKED.has(type.trim().toLowerCase()) && headers['content-encoding'] === undefined;
}

/** The context with its body still to be read. */
async function checked(context: ExtensionContext, kind: string, schema: StructuralSchema): Promise<ExtensionContext> {
  const bytes = await context.request.body();
  const unknown = unknownFields(bytes, schema);
  if (unknown.length > 0) {
    const [version] = context.request.path.split('/').slice(3);
    throw badRequest(
      `${kind} in version "${version}" cannot be handled as a ${kind}: strict decoding error: ` +
        unknown.map((path) => `unknown field "${path}"`).join(', '),
    );
  }
  const request: ApiRequest = {
    ...context.request,
    body: () => Promise.resolve(bytes),
    bodyStream: Readable.from([bytes]),
  };
  return { ...context, request };
}

function unknownFields(bytes: Uint8Array, schema: StructuralSchema): string[] {
  try {
    // What a patch takes away need not be known.
    const object = applyMergePatch({}, parseJson(Buffer.from(bytes).toString()));
    return findUnknownFields(object, schema);
  } catch {
    return []; // No JSON: the host says so, in its own words.
  }
}
