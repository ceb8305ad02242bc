import { LinkedAbort } from './linked-abort.ts';

/** What `follow` gives, to be iterated over: it goes on only when the next is asked for, and ends with the loop. */
export async function* iterate<E>(
  parent: AbortSignal,
  follow: (signal: AbortSignal, give: (event: E) => Promise<void>) => Promise<void>,
): AsyncGenerator<E> {
  using end = new LinkedAbort(parent);
  let next = Promise.withResolvers<{ event: E } | undefined>();
  let taken = (): void => {};
  const give = (event: E): Promise<void> => {
    next.resolve({ event });
    return new Promise((resolve) => {
      taken = resolve;
    });
  };
  follow(end.signal, give).then(
    () => next.resolve(undefined),
    (error) => {
      next.promise.catch(() => {}); // Nobody may be waiting for it any more.
      next.reject(error);
    },
  );
  try {
    for (let given = await next.promise; given; given = await next.promise) {
      next = Promise.withResolvers();
      yield given.event;
      taken();
    }
  } finally {
    end.abort(undefined);
    taken();
  }
}
