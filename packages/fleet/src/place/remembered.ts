/** Answers about accounts that clusters give of themselves, kept for as long as an account is the same object, as in a cache. */
export class Remembered<Account extends object, Answer> {
  readonly #byQuestion = new Map<string, WeakMap<Account, Answer>>();
  readonly #limit: number;

  /** @param limit - of how many questions the answers are kept; a further one drops those of the first. */
  constructor(limit: number) {
    this.#limit = limit;
  }

  /** The answer to one question, for many accounts: found once for each of them. */
  to(question: string, find: (account: Account) => Answer): (account: Account) => Answer {
    const answers = this.#answersTo(question);
    return (account) => {
      let answer = answers.get(account);
      if (answer === undefined) answers.set(account, (answer = find(account)));
      return answer;
    };
  }

  #answersTo(question: string): WeakMap<Account, Answer> {
    const known = this.#byQuestion.get(question);
    if (known) return known;
    const [oldest] = this.#byQuestion.keys();
    if (oldest !== undefined && this.#byQuestion.size >= this.#limit) this.#byQuestion.delete(oldest);
    const answers = new WeakMap<Account, Answer>();
    this.#byQuestion.set(question, answers);
    return answers;
  }
}
