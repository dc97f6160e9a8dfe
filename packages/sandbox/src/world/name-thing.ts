/** "the fridge" → "fridge", "a substance called soap" → "soap". */
export function withoutArticle(phrase: string): string {
  return phrase.trim().replace(/^(?:an?|the) (?:substance called )?/i, "");
}

/** The name that looking closely gives: "inclined plane B", "turtle egg". */
export function fullName(phrase: string): string {
  return withoutArticle(phrase).replace(/ (?:containing|titled) .*$| in the \w+ stage.*$/s, "");
}

/**
 * The name that handling gives. A creature keeps its kind's name through every stage of life, a substance through
 * every state of matter, and a plane has one name whatever covers it.
 */
export function shortName(phrase: string): string {
  return fullName(phrase)
    .replace(/^(inclined plane) .*$/s, "$1")
    .replace(/^(?:adult|baby|juvenile|hatchling|dead|solid|liquid|gaseous) /, "")
    .replace(/ egg$/, "");
}

/** Everything that a thing can be called, in small letters, its full name first. */
export function listNames(phrase: string): string[] {
  const words = withoutArticle(phrase);
  const names = [fullName(phrase), shortName(phrase), words];
  const title = words.split(" titled ")[1];
  if (title !== undefined) names.push(title);
  return names.map((name) => name.toLowerCase());
}
