// Elsewhere than in Node, a bundler puts data and libraries into the bundle, and leaves out those that no code of the bundle uses.
import * as re2 from 're2js';
import facts from '../data/kubernetes-1.36.json' with { type: 'json' };
import descriptor from '../data/protobuf-1.36.json' with { type: 'json' };
import columns from '../data/table-columns-1.36.json' with { type: 'json' };

export const kubernetesFacts = () => facts;
export const protobufDescriptor = () => descriptor;
export const tableColumns = () => columns;
export const loadRe2 = () => re2;

/** @param {Uint8Array} bytes */
export const toBase64 = (bytes) => btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''));
