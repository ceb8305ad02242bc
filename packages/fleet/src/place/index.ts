export { addPlacement } from './placement-controller.ts';
export { type Schedule, schedule, type ScheduleInput, type Unschedulable } from './schedule.ts';
