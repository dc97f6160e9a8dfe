/** "the fridge" → "fridge", "a substance called soap" → "soap". */
export function withoutArticle(phrase: string): string {
  return phrase.trim().replace(/^(?:an?|the) (?:substance called )?/i, "");
}

/** The name shown when the agent looks closely: "inclined plane B", "turtle egg". */
export function fullName(phrase: string): string {
  return withoutArticle(phrase).replace(/ (?:containing|titled) .*$| in the \w+ stage.*$/s, "");
}

/**
 * The name shown when the agent handles the thing. A creature has its species' name in every stage of life, a substance
 * one name in every state of matter, and an inclined plane one name whatever covers it.
 */
export function shortName(phrase: string): string {
  return fullName(phrase)
    .replace(/^(inclined plane) .*$/s, "$1")
    .replace(/^(?:adult|baby|juvenile|hatchling|dead|solid|liquid|gaseous) /, "")
    .replace(/ egg$/, "");
}

/** All names of a thing, in lower case, its full name first. */
export function listNames(phrase: string): string[] {
  const words = withoutArticle(phrase);
  const names = [fullName(phrase), shortName(phrase), words];
  const title = words.split(" titled ")[1];
  if (title !== undefined) names.push(title);
  return names.map((name) => name.toLowerCase());
}
