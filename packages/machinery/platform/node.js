// In Node, data and libraries are loaded when they are first needed: most processes need none of them.
import { createRequire } from 'node:module';

const require = createRequire(import.meta.url);

export const kubernetesFacts = () => require('../data/kubernetes-1.36.json');
export const protobufDescriptor = () => require('../data/protobuf-1.36.json');
export const tableColumns = () => require('../data/table-columns-1.36.json');
export const loadRe2 = () => require('re2js');

/** @param {Uint8Array} bytes */
export const toBase64 = (bytes) => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');
