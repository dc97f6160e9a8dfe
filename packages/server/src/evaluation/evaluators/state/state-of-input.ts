const stateMark = /(?:^|\n)State: /;
const actionMark = "\n\nAction: ";

/** The state before the action: the input itself, or what stands in it as the state of a composed prompt. */
export function stateOfInput(input: string): string {
  const mark = stateMark.exec(input);
  // A state may quote an action of old; the prompt's own comes last.
  const end = input.lastIndexOf(actionMark);
  if (mark === null || end < 0) return input;
  const start = mark.index + mark[0].length;
  return start <= end ? input.slice(start, end) : input;
}
