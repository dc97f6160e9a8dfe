/** An action and what followed it. */
interface Recorded {
  action: string;
  nextState: string;
}

/**
 * A recorded next state with the words in which the actions differ carried over. Actions whose first words differ, and those with
 * arguments in braces, are too different for that.
 */
export function adaptAnswer(action: string, recorded: Recorded): string {
  const { nextState } = recorded;
  if (action.includes("{") || recorded.action.includes("{")) return nextState;
  const [wanted, known] = [wordsOf(action), wordsOf(recorded.action)];
  if (wanted[0] !== known[0]) return nextState;
  const swaps = differences(wanted, known);
  return swaps.size === 0 ? nextState : replaceWhole(nextState, swaps);
}

function wordsOf(action: string): string[] {
  return action.split(/\s+/).filter((word) => word !== "");
}

/** The query's words for each run of the example's that differs. Where one of them has none, there is nothing to carry over. */
function differences(wanted: readonly string[], known: readonly string[]): Map<string, string> {
  const swaps = new Map<string, string>();
  const swap = (from: number, end: number, wantedEnd: number) => {
    const run = known.slice(from, end).join(" ");
    if (run !== "" && wantedEnd > from && !swaps.has(run))
      swaps.set(run, wanted.slice(from, wantedEnd).join(" "));
  };
  if (wanted.length === known.length) {
    for (let from = 0, end = 0; from < known.length; from = end + 1) {
      for (end = from; end < known.length && wanted[end] !== known[end]; ) end += 1;
      swap(from, end, end);
    }
    return swaps;
  }
  const shorter = Math.min(wanted.length, known.length);
  let start = 0;
  while (start < shorter && wanted[start] === known[start]) start += 1;
  let back = 0;
  while (back < shorter - start && wanted.at(-1 - back) === known.at(-1 - back)) back += 1;
  swap(start, known.length - back, wanted.length - back);
  return swaps;
}

const word = /[A-Za-z0-9_]/;

/** Replaces texts where no letter, digit or underscore is beside them; of several at one place the longest. */
function replaceWhole(text: string, swaps: ReadonlyMap<string, string>): string {
  const byHead = Map.groupBy(
    [...swaps.keys()].sort((a, b) => b.length - a.length),
    (from) => headOf(from),
  );
  let replaced = "";
  let end = 0;
  for (const { 0: head, index } of text.matchAll(/[A-Za-z0-9_]+|[^A-Za-z0-9_]/g)) {
    if (index < end || word.test(text[index - 1] ?? "")) continue;
    const from = byHead
      .get(head)
      ?.find((one) => text.startsWith(one, index) && !word.test(text[index + one.length] ?? ""));
    if (from === undefined) continue;
    replaced += text.slice(end, index) + swaps.get(from);
    end = index + from.length;
  }
  return replaced + text.slice(end);
}

/** Its first word, or its first character if that is of no word. */
function headOf(text: string): string | undefined {
  return /^(?:[A-Za-z0-9_]+|[^A-Za-z0-9_])/.exec(text)?.[0];
}
