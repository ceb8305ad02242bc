import type { TextEdit } from './edit-json-text.ts';
import type { Change } from './override-step.ts';
import type { FieldOverrider, TextEditor } from './text-editor.ts';

/** Work on one text, as a thread is given it: plain data. */
export type TextTask = { edit: string; overrider: FieldOverrider } | { read: string };

/** What becomes of a task. A text that is nested too deeply is a fault, not an error. */
export function performTextTask(editor: TextEditor, task: TextTask): TextEdit | Change {
  try {
    return 'edit' in task ? editor.edit(task.edit, task.overrider) : editor.read(task.read);
  } catch (error) {
    if (error instanceof RangeError) return { fault: 'is nested too deeply' };
    throw error;
  }
}
