import { deepEqual, type KubeObject } from '@asterism/machinery';
import { type Fields, optionalFields } from '../fields/draft-fields.ts';
import type { Conversion } from '../../contract/conversion.ts';

/** The label by which upstream tells the two meanings of an empty selector apart; no pod has it. */
const MARK = 'pdb.kubernetes.io/deprecated-v1beta1-empty-selector-match';
const NO_POD = { matchExpressions: [{ key: MARK, operator: 'Exists' }] };
const EVERY_POD = { matchExpressions: [{ key: MARK, operator: 'DoesNotExist' }] };

/** policy/v1beta1, where an empty selector takes no pod; in policy/v1 it takes all. */
export const podDisruptionBudgetV1Beta1: Conversion = {
  fromStorage: (object) => withSelector(object, 'policy/v1beta1', { empty: EVERY_POD, marked: NO_POD }),
  toStorage: (object) => withSelector(object, 'policy/v1', { empty: NO_POD, marked: EVERY_POD }),
};

/** What is empty here is `empty` there, and what is `marked` here is empty there. */
function withSelector(object: KubeObject, apiVersion: string, meaning: { empty: Fields; marked: Fields }): KubeObject {
  const spec = optionalFields(object, 'spec');
  const selector = optionalFields(spec, 'selector');
  if (!selector) return { ...object, apiVersion };
  const isEmpty = Object.values(selector).every((part) => Object.keys((part as object | null) ?? {}).length === 0);
  const other = isEmpty ? meaning.empty : deepEqual(selector, meaning.marked) ? {} : selector;
  return { ...object, apiVersion, spec: { ...spec, selector: other } };
}
