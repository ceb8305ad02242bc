import type { Terminal } from '../output/terminal.ts';
import { oneLine } from '../output/one-line.ts';

type State = 'waiting' | 'done' | 'failed';

interface Line {
  label: string;
  text: string;
  state: State;
}

/**
 * What `aster up` is doing: on a person's screen a tree that is drawn again as it grows, elsewhere one line for each step as
 * it comes true.
 */
export class Progress {
  readonly #terminal: Terminal;
  readonly #title: string;
  readonly #lines = new Map<string, Line>();
  #drawn = 0;

  constructor(terminal: Terminal, title: string) {
    this.#terminal = terminal;
    this.#title = title;
    if (!terminal.interactive) terminal.err(oneLine(`${title}`));
  }

  waiting(label: string, text: string): void {
    this.#set({ label, text, state: 'waiting' });
  }

  done(label: string, text: string): void {
    this.#set({ label, text, state: 'done' });
  }

  failed(label: string, text: string): void {
    this.#set({ label, text, state: 'failed' });
  }

  #set(line: Line): void {
    const before = this.#lines.get(line.label);
    if (before?.text === line.text && before.state === line.state) return;
    this.#lines.set(line.label, line);
    if (this.#terminal.interactive) this.#draw();
    else if (line.state !== 'waiting') this.#terminal.err(oneLine(`${line.label}: ${line.text}`));
  }

  #draw(): void {
    const lines = [...this.#lines.values()];
    const width = Math.max(...lines.map(({ label }) => label.length));
    const rows = lines.map(({ label, text, state }, index) => {
      const branch = index === lines.length - 1 ? '└─' : '├─';
      const mark = { waiting: '…', done: this.#terminal.style('green', '✓'), failed: this.#terminal.style('red', '✗') }[
        state
      ];
      return `${branch} ${mark} ${label.padEnd(width)}  ${text.slice(0, Math.max(20, this.#terminal.width - width - 9))}`;
    });
    const back = this.#drawn > 0 ? this.#terminal.sequence(`${this.#drawn}A`) : '';
    const text = [this.#title, ...rows].map((row) => `${this.#terminal.sequence('2K')}${row}\n`).join('');
    this.#terminal.err(back + text);
    this.#drawn = rows.length + 1;
  }
}
