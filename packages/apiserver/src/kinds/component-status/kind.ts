import type { Kind } from '../../contract/kind.ts';

export const componentStatusKind: Kind = {
  groupResource: 'componentstatuses',
  warning: 'v1 ComponentStatus is deprecated in v1.19+',
  strategy: {},
};
