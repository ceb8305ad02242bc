import { invalidValue, type Strategy } from '../strategy.ts';

export const runtimeClassStrategy: Strategy = {
  validateUpdate: (object, old) =>
    object.handler === old.handler ? [] : [invalidValue('handler', object.handler, 'field is immutable')],
};
