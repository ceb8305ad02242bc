import { isStatusError, type LabelRequirement, type LabelSelector, labelSelectorFromObject } from '@asterism/machinery';

/** The requirements of a selector that a user wrote, or in words why it is none: one bad policy must not stop all others. */
export function readLabelSelector(selector: LabelSelector): LabelRequirement[] | { fault: string } {
  try {
    return labelSelectorFromObject(selector);
  } catch (error) {
    if (isStatusError(error)) return { fault: error.message };
    throw error;
  }
}
