import type { UserInfo } from '@asterism/apiserver';

/** Who the hub is in an API server of its own process. */
export const IN_PROCESS_USER: UserInfo = {
  username: 'asterism:hub',
  groups: ['system:masters', 'system:authenticated'],
};
