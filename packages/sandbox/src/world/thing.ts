/** One object of the world, divided into the parts that actions can change. */
export interface Thing {
  /** As the world calls it: "a fridge", "a substance called soap", "soil". */
  phrase: string;
  /** Names that an action may use, in lower case, the full name first. */
  names: readonly string[];
  /** The text after ", which is": "turned off", "deactivated". */
  status?: string;
  door?: Door;
  /** Absent if the thing is not a container, or if a closed door hides its contents. */
  contents?: Contents;
  /** Everything else in its description, verbatim. */
  remark: string;
}

export type Door = "open" | "closed";

export interface Contents {
  /** How the world introduces them: "(containing …)", ", with: …", "In the … is:", "On the … is:". */
  manner: "containing" | "with" | "In" | "On";
  things: Thing[];
}

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

/** Describes a thing as the world does; the reverse of `parseThing`. */
export function renderThing(thing: Thing): string {
  const { phrase, status, door, contents, remark } = thing;
  const name = withoutArticle(phrase);
  let text = phrase;
  if (status !== undefined) text += `, which is ${status}`;
  if (door !== undefined) text += `. The ${name} door is ${door}`;
  if (door === "closed") return `${text}.`;
  if (contents === undefined) return text + remark;
  const list = listThings(contents.things);
  switch (contents.manner) {
    case "containing":
      return `${text} (containing ${list})`;
    case "with":
      return contents.things.length === 0 ? text : `${text}, with: ${list}`;
    default:
      return `${text}. ${contents.manner} the ${name} is: ${list}.`;
  }
}

export function listThings(things: readonly Thing[]): string {
  return things.length === 0 ? "nothing" : things.map(renderThing).join(", ");
}

/** A line of a list. The world adds a space if the line ends with a sentence about a door or a switch. */
export function renderLine(thing: Thing): string {
  const text = renderThing(thing);
  return `\t${/(?:closed|activated)\.$/.test(text) ? `${text} ` : text}`;
}

const containing = " containing ";

/** Whether a lower-case name is a name of this thing: "cup", or "cup containing red paint". */
function answersTo({ names, contents }: Thing, name: string): boolean {
  if (names.includes(name)) return true;
  const split = name.indexOf(containing);
  if (split < 0 || contents === undefined || !names.includes(name.slice(0, split))) return false;
  return listThings(contents.things).toLowerCase() === name.slice(split + containing.length);
}

/** Whether a lower-case name is at least the end of its full name: "bee" for "adult bee". */
function mayAnswerTo({ names }: Thing, name: string): boolean {
  return names[0]?.endsWith(` ${name}`) ?? false;
}

/** Furniture and machines stay where they are; the agent may carry everything else. */
export function isFixture({ door, status, contents }: Thing): boolean {
  const isFurniture = contents?.manner === "In" || contents?.manner === "On";
  return door !== undefined || isFurniture || (status?.startsWith("turned ") ?? false);
}

export function isSubstance({ phrase }: Thing): boolean {
  return /^an? substance called /.test(phrase);
}

export interface Found {
  thing: Thing;
  /** The list that contains it, from which it can be removed. */
  siblings: Thing[];
  /** The things that contain it, from the inside out: ["bowl", "counter"]. */
  within: string[];
}

/** Everything that `words` can mean, in a list and inside its things: by full name, otherwise by the end of the name. */
export function findThings(things: Thing[], words: string): Found[] {
  const exact = findNamed(things, words);
  return exact.length > 0 ? exact : find(things, words, mayAnswerTo);
}

/** Everything whose full name is `words`. */
export function findNamed(things: Thing[], words: string): Found[] {
  return find(things, words, answersTo);
}

function find(things: Thing[], words: string, matches: (thing: Thing, name: string) => boolean): Found[] {
  const name = withoutArticle(words).toLowerCase();
  const found: Found[] = [];
  const visit = (siblings: Thing[], within: string[]): void => {
    for (const thing of siblings) {
      if (matches(thing, name)) found.push({ thing, siblings, within });
      const { contents, door, phrase } = thing;
      if (contents !== undefined && door !== "closed") visit(contents.things, [shortName(phrase), ...within]);
    }
  };
  visit(things, []);
  return found;
}
