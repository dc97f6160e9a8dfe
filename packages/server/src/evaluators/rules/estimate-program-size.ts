/** An atom, a group's bracket or a repetition, in RE2's syntax. */
const token =
  /\\Q[\s\S]*?(?:\\E|$)|\\[\s\S]|\[\^?\]?(?:\\[\s\S]|\[:\^?\w+:\]|[^\]\\])*\]|\{(\d+)(?:,(\d*))?\}|[\s\S]/y;

/**
 * About how many instructions a pattern compiles to, from its text alone: a pattern of a few hundred characters can take a
 * million of them, and compiling it hundreds of megabytes.
 */
export function estimateProgramSize(pattern: string): number {
  const open: { size: number; last: number }[] = [];
  let group = { size: 0, last: 0 };
  token.lastIndex = 0;
  for (let match = token.exec(pattern); match !== null; match = token.exec(pattern)) {
    const [text, min, max] = match;
    if (text === "(") {
      open.push(group);
      group = { size: 2, last: 0 };
    } else if (text === ")") {
      const { size } = group;
      const outer = open.pop() ?? { size: 0, last: 0 };
      group = { size: outer.size + size, last: size };
    } else if (min !== undefined) {
      const repeated = group.last * Number(max || min);
      group = { size: group.size - group.last + repeated, last: repeated };
    } else {
      // A class that is never closed is no pattern. Looking for its end at each bracket would take quadratic time.
      if (text === "[") return group.size;
      const size = text.startsWith("\\Q") ? text.length : 1;
      group = { size: group.size + size, last: size };
    }
  }
  return open.reduce((sum, { size }) => sum + size, group.size);
}
