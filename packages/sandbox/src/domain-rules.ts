/** `When the agent does "sharpen X": … respond "The X is sharp now."` — a rule in the system turn. */
const rulePattern = /^When the agent does "([^"\n]{1,100})":[^"\n]{0,200}respond "([^"\n]{1,300})"/gm;
const refusalPattern = /^When action is invalid[^"\n]{0,200}respond "([^"\n]{1,300})"/m;
const defaultRefusal = "No known action matches that input.";

/** The observation for an action that only the domain knowledge defines. */
export function applyDomainRule(knowledge: string, command: string): string | undefined {
  for (const [, pattern = "", response = ""] of knowledge.matchAll(rulePattern)) {
    const names = pattern.split(" ");
    const filled = fill(names, command.split(" "));
    if (filled !== undefined) return response.replace(/\b[XYZ]\b/g, (name) => filled.get(name) ?? name);
  }
  return undefined;
}

export function refusal(knowledge: string): string {
  return refusalPattern.exec(knowledge)?.[1] ?? defaultRefusal;
}

/** Matches "sharpen X with Y" to "sharpen old knife with stone"; a variable matches all words up to the next fixed one. */
function fill(pattern: readonly string[], words: readonly string[]): Map<string, string> | undefined {
  const values = new Map<string, string>();
  let at = 0;
  for (const [index, part] of pattern.entries()) {
    if (!/^[XYZ]$/.test(part)) {
      if (words[at] !== part) return undefined;
      at += 1;
      continue;
    }
    const next = pattern[index + 1];
    const found = next === undefined ? words.length : words.indexOf(next, at + 1);
    if (found <= at) return undefined;
    values.set(part, words.slice(at, found).join(" "));
    at = found;
  }
  return at === words.length ? values : undefined;
}
