/** Resolves when all who asked before have called the function that they got. */
export type NextTurn = () => Promise<() => void>;

export function takeTurns(): NextTurn {
  let last: Promise<void> = Promise.resolve();
  return async () => {
    const before = last;
    const turn = Promise.withResolvers<void>();
    last = turn.promise;
    await before;
    return turn.resolve;
  };
}
