import type { RecordedRequest } from '../../conformance/scenario.ts';
import type { Fields } from '../objects/generated-kind.ts';

/** One request of a caller, and what of its two answers must be the same. */
export interface Decision {
  /** What it tries, for the table of a run. */
  family: string;
  /** The name before `-token`; `anonymous` for none. */
  user: string;
  request: RecordedRequest;
  /** The body is the object at `path`, as the asked server has it, with this merge patch applied. */
  base?: { path: string; change: Fields };
  /**
   * `names`: the objects that were read. `rights`: the fields of the answered object that carry rights. `forbidden`: whether it
   * is refused, as servers without kubelets answer connections in their own ways. `status`: code and reason alone.
   */
  compares: 'names' | 'rights' | 'forbidden' | 'status';
}
