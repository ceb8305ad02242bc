/** What a thread of `TextThread` runs: it answers each task with its outcome, in the order in which they come. */
import { parentPort } from 'node:worker_threads';
import { TextEditor } from './text-editor.ts';
import { performTextTask, type TextTask } from './text-task.ts';

const editor = await TextEditor.load();
parentPort?.on('message', (task: TextTask) => parentPort?.postMessage(performTextTask(editor, task)));
